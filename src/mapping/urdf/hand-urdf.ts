import { z } from 'zod';
import type { JointModel } from '../../geometry/robot-model.ts';
import { placementOf, type Rigid, rigid, times } from './rigid.ts';
import { isTurning, pathTo, readTree, type UrdfJoint, type UrdfTree } from './tree.ts';
import { checked, robotOf, turningJoint, type UrdfModel } from './urdf.ts';
import { badUrdf, createXmlReader, type Vector, type XmlReader } from './xml.ts';

const FINGERS = ['thumb', 'index', 'middle', 'ring', 'pinky'] as const;
type Finger = (typeof FINGERS)[number];

const vector = z.tuple([z.number(), z.number(), z.number()]);

/** What a URDF does not say about a hand; all of it can be left out if its links have the usual names. */
export const handUrdfSchema = z.strictObject({
  tips: z
    .partialRecord(z.enum(FINGERS), z.string())
    .optional()
    .describe('link at the tip point of each finger; default: by the names of the links'),
  wristM: vector.optional().describe('centre of the wrist in the palm’s link; default: its origin'),
  mirrored: z.boolean().default(false).describe('a left hand'),
});
export type HandUrdf = z.infer<typeof handUrdfSchema>;

/** Names that makers give to the links of each finger. */
const NAMES: Readonly<Record<Finger, RegExp>> = {
  thumb: /thumb|^th(?![a-z]*ird)/i,
  index: /index|fore_?finger|first_?finger|^ff/i,
  middle: /middle_?(?:finger|tip|distal|fingertip)|^middle|^mf/i,
  ring: /ring|^rf/i,
  pinky: /pinky|little|^lf/i,
};
/** The palm's own frame needs a wrist away from the knuckles. */
const LEAST_PALM_M = 0.03;

/**
 * Builds the model of a hand from the text of a URDF file: one chain per finger, from the link on which all fingers are
 * mounted to its tip. A left hand is stored as its mirror image. Joints before the palm are left out.
 */
export function parseHandUrdf(text: string, file: string, given: HandUrdf): UrdfModel {
  const reader = createXmlReader(file);
  const robot = robotOf(text, file);
  const tree = readTree(robot, reader);
  const tips = given.tips ?? tipsByName(tree);
  const fingers = FINGERS.filter((finger) => tips[finger] !== undefined);
  if (!['thumb', 'index', 'middle'].every((finger) => fingers.includes(finger as Finger)))
    throw noTips(file, robot.line, tree, fingers);
  const paths = fingers.map((finger) => pathOf(tree, tips[finger]!, file, robot.line));
  const shared = sharedJoints(paths);
  const palm = paths[0]![shared]!.parent;
  const notes = [`palm "${palm}"; tips ${fingers.map((finger) => `${finger} "${tips[finger]}"`).join(', ')}`];
  const chains = paths.map((path) => chainOf(path.slice(shared), reader, notes, given.mirrored));
  const left = paths[0]!.slice(0, shared).filter(isTurning);
  if (left.length > 0)
    notes.push(`joints before the palm, not driven: ${left.map(({ name }) => name).join(', ')}`);
  const joints = chains.flatMap((chain) => chain.joints);
  const wristM = given.wristM ?? [0, 0, 0];
  const middleM = chains[fingers.indexOf('middle')]!.joints[0]!.origin!.xyzM;
  if (Math.hypot(...middleM.map((value, k) => value - wristM[k]!)) < LEAST_PALM_M)
    throw badUrdf(
      file,
      robot.line,
      `link "${palm}" is not at the wrist`,
      'Set wristM: the wrist in the frame of that link.',
    );
  const name = robot.attributes['name'] ?? 'hand';
  const draft = {
    name,
    title: `${name} (${file})`,
    family: 'hand' as const,
    joints,
    tool: { xyzM: [0, 0, 0] as Vector, rpyRad: [0, 0, 0] as Vector },
    homeRad: joints.map(({ minRad, maxRad }) => (minRad <= 0 && maxRad >= 0 ? 0 : (minRad + maxRad) / 2)),
    gripper: false,
    capsules: [],
    mayTouch: [],
    ...(given.mirrored && { mirrored: true }),
    hand: {
      wristM: given.mirrored ? mirroredVector(wristM) : wristM,
      fingers: fingers.map((finger, f) => ({
        name: finger,
        joints: chains[f]!.joints.map((joint) => joint.name),
        tipM: chains[f]!.tipM,
      })),
    },
  };
  return { model: checked(draft, file), notes };
}

/** The last link of each finger, found by its name; a link named as a tip is preferred. */
function tipsByName(tree: UrdfTree): Partial<Record<Finger, string>> {
  const parents = new Set(tree.joints.map(({ parent }) => parent));
  const ends = [...tree.links.keys()].filter((link) => !parents.has(link));
  const find = (finger: Finger) => {
    const named = ends.filter((link) => NAMES[finger].test(link));
    return named.find((link) => /tip/i.test(link)) ?? named[0];
  };
  return Object.fromEntries(
    FINGERS.map((finger) => [finger, find(finger)]).filter(([, link]) => link !== undefined),
  );
}

function pathOf(tree: UrdfTree, tip: string, file: string, line: number): UrdfJoint[] {
  if (!tree.links.has(tip))
    throw badUrdf(file, line, `there is no link "${tip}"`, 'Use the names of <link>s in tips.');
  const path = pathTo(tree, tip, file);
  const odd = path.find((joint) => (!isTurning(joint) && joint.type !== 'fixed') || mimics(joint));
  if (odd === undefined) return path;
  const why = mimics(odd) ? 'follows another joint (<mimic>), which is not supported' : `is ${odd.type}`;
  throw badUrdf(
    file,
    odd.element.line,
    `joint "${odd.name}" ${why}`,
    'A finger has revolute, continuous and fixed joints.',
  );
}

const mimics = ({ element }: UrdfJoint): boolean => element.children.some(({ name }) => name === 'mimic');

/** Number of joints that all fingers have in common, from the root. */
function sharedJoints(paths: readonly UrdfJoint[][]): number {
  const [first] = paths as [UrdfJoint[]];
  const differs = first.findIndex((joint, i) => paths.some((path) => path[i] !== joint));
  return differs < 0 ? first.length : differs;
}

/** Fixed joints are folded into the next offset, or into the tip. */
function chainOf(path: readonly UrdfJoint[], reader: XmlReader, notes: string[], isLeft: boolean) {
  const joints: JointModel[] = [];
  const still = () => rigid([0, 0, 0], [0, 0, 0]);
  let pending = still();
  for (const joint of path) {
    pending = times(pending, rigid(joint.xyzM, joint.rpyRad));
    if (!isTurning(joint)) continue;
    const { axis = [0, 0, 1], ...turning } = turningJoint(joint, reader, notes);
    const origin = placementOf(isLeft ? mirrored(pending) : pending);
    // Mirroring reverses the sense of rotation about the mirrored axis.
    joints.push({ ...turning, origin, axis: isLeft ? [axis[0], -axis[1], -axis[2]] : axis });
    pending = still();
  }
  const tipM: Vector = [pending[3]!, pending[7]!, pending[11]!];
  return { joints, tipM: isLeft ? mirroredVector(tipM) : tipM };
}

const mirroredVector = ([x, y, z]: Vector): Vector => [-x, y, z];

/** M T M with M = diag(−1, 1, 1). */
const mirrored = (t: Rigid): Rigid =>
  t.map((value, i) => {
    const [row, column] = [Math.floor(i / 4), i % 4];
    return (row === 0) !== (column === 0) ? -value : value;
  });

function noTips(file: string, line: number, tree: UrdfTree, found: readonly string[]): Error {
  const parents = new Set(tree.joints.map(({ parent }) => parent));
  const ends = [...tree.links.keys()].filter((link) => !parents.has(link));
  return badUrdf(
    file,
    line,
    `the fingertips are not recognised (found: ${found.join(', ') || 'none'}; ends: ${ends.join(', ')})`,
    'Write a model file with urdf and tips: { thumb: LINK, index: LINK, … }; docs/hand.md has an example.',
  );
}
