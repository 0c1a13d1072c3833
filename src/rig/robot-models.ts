import { existsSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { readBounded } from '../files/read-bounded.ts';
import { namedFile, readYaml, yamlNames } from '../files/yaml-files.ts';
import { type RobotModel, robotModelSchema } from '../geometry/robot-model.ts';
import { handUrdfSchema, parseHandUrdf } from '../mapping/urdf/hand-urdf.ts';
import { parseUrdf } from '../mapping/urdf/urdf.ts';
import type { UrdfVisual } from '../mapping/urdf/visuals.ts';
import { NO_GRIPPER } from '../robot/robot-config.ts';

export const modelNames = (): string[] => yamlNames('robots');

export interface LoadedModel {
  model: RobotModel;
  /** What was omitted or assumed, for people. */
  notes: string[];
  /** Meshes of a URDF. */
  visuals?: UrdfVisual[];
}

/**
 * A shipped model by its name, or a YAML or URDF file by its path; `arm.urdf#tool0` names the tip link, `x.urdf#hand`
 * is a hand.
 */
export const loadModel = (nameOrPath: string): RobotModel => loadModelNoted(nameOrPath).model;

/** The model of a rig's robot, with the gripper it carries. */
export function rigModel(rig: { model: string; robot: { gripper: string } }): RobotModel {
  const model = loadModel(rig.model);
  return rig.robot.gripper === NO_GRIPPER ? model : { ...model, gripper: true };
}

export function loadModelNoted(nameOrPath: string): LoadedModel {
  const [, file = '', tip] = /^(.*\.urdf)(?:#(.*))?$/i.exec(nameOrPath) ?? [];
  if (file !== '' && tip === 'hand') return parseHandUrdf(readText(file), file, handUrdfSchema.parse({}));
  if (file !== '') return parseUrdf(readText(file), file, tip);
  return { model: loadYamlModel(fileOf(nameOrPath)), notes: [] };
}

function fileOf(nameOrPath: string): string {
  if (!/[\\/]|\.ya?ml$/.test(nameOrPath)) return namedFile('robots', 'robot model', nameOrPath);
  if (existsSync(nameOrPath)) return nameOrPath;
  throw missing(nameOrPath);
}

const missing = (file: string): TeleopError =>
  new TeleopError('file-missing', `robot model ${file} does not exist`, {
    hint: 'Give the path of a YAML or URDF file, or the name of a shipped model (`farhand robots`).',
  });

function readText(file: string): string {
  if (!existsSync(file)) throw missing(file);
  try {
    return readBounded(file).bytes.toString();
  } catch (cause) {
    throw new TeleopError('file-unreadable', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'Check that it is a file and is readable.',
      cause,
    });
  }
}

function loadYamlModel(file: string): RobotModel {
  const parsed = robotModelSchema.safeParse(readTree(file, []));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw badModel(file, `${issue.path.join('.')}: ${issue.message}`);
}

const badModel = (file: string, what: string): TeleopError =>
  new TeleopError('bad-model', `${file}: ${what}`, { hint: 'Compare it with robots/ur3.yaml.' });

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A model's file merged onto the one it extends: whole keys, but joints by name and key by key. */
function readTree(file: string, seen: readonly string[]): unknown {
  const own = readYaml(file);
  if (isTree(own) && typeof own['urdf'] === 'string') return handOfUrdf(file, own);
  if (!isTree(own) || own['extends'] === undefined) return own;
  const { extends: parent, ...rest } = own;
  const from = path.resolve(file);
  if (typeof parent !== 'string') throw badModel(file, 'extends: expected the name of a model');
  if (seen.includes(from)) throw badModel(file, 'extends: circular inheritance');
  const beside = path.join(path.dirname(file), `${parent}.yaml`);
  const base = readTree(existsSync(beside) ? beside : fileOf(parent), [...seen, from]);
  if (!isTree(base)) throw badModel(file, `extends: ${parent} is not a model`);
  return { ...base, ...rest, joints: mergedJoints(file, base['joints'], own['joints']) };
}

/** A hand whose geometry is in a URDF file beside it; other keys replace what the URDF gives. */
function handOfUrdf(file: string, { urdf, tips, wristM, mirrored, ...rest }: Tree): Tree {
  const given = handUrdfSchema.safeParse({ tips, wristM, mirrored });
  if (!given.success) {
    const issue = given.error.issues[0]!;
    throw badModel(file, `${issue.path.join('.')}: ${issue.message}`);
  }
  const source = path.resolve(path.dirname(file), String(urdf));
  return { ...parseHandUrdf(readText(source), source, given.data).model, ...rest };
}

function mergedJoints(file: string, joints: unknown, changes: unknown): unknown {
  if (changes === undefined) return joints;
  if (!isTree(changes) || !Array.isArray(joints)) return changes;
  const named = joints as Tree[];
  const unknownJoint = Object.keys(changes).find((name) => !named.some((joint) => joint['name'] === name));
  if (unknownJoint !== undefined)
    throw badModel(file, `joints.${unknownJoint}: the base model has no such joint`);
  return named.map((joint) => merged(joint, changes[String(joint['name'])]));
}

function merged(base: unknown, change: unknown): unknown {
  if (change === undefined) return base;
  if (!isTree(base) || !isTree(change)) return change;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(change)])];
  return Object.fromEntries(keys.map((key) => [key, merged(base[key], change[key])]));
}
