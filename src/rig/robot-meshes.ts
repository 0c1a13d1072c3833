import { statSync } from 'node:fs';
import path from 'node:path';
import type { UrdfVisual } from '../mapping/urdf/visuals.ts';
import { MESH_FORMATS, type MeshFormat } from '../messages/console.ts';
import { loadModelNoted } from './robot-models.ts';

const MAX_MESH_BYTES = 64 * 1024 * 1024;
const MAX_MESHES = 200;

/** A mesh of a robot's URDF that exists. */
export interface RobotMesh extends UrdfVisual {
  file: string;
  format: MeshFormat;
}

/** The meshes of a model that is a URDF file; without any, the robot is shown by its collision shapes. */
export function rigMeshes(model: string): RobotMesh[] {
  const [, urdf] = /^(.*\.urdf)(?:#.*)?$/i.exec(model) ?? [];
  if (urdf === undefined) return [];
  const { visuals = [] } = loadModelNoted(model);
  return visuals.slice(0, MAX_MESHES).flatMap((visual) => meshOf(visual, urdf) ?? []);
}

function meshOf(visual: UrdfVisual, urdf: string): RobotMesh | null {
  const format = path.extname(visual.filename).slice(1).toLowerCase();
  const known = MESH_FORMATS.find((each) => each === format);
  const file = known && placesOf(visual.filename, urdf).find(isMesh);
  return known && file ? { ...visual, file, format: known } : null;
}

function isMesh(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size <= MAX_MESH_BYTES;
}

/**
 * Where a mesh may be. `package://name/path` is looked for in the folders above the URDF file and beside them, as
 * packages are usually laid out, and in ROS_PACKAGE_PATH.
 */
function placesOf(filename: string, urdf: string): string[] {
  const folder = path.dirname(path.resolve(urdf));
  const [, name, rest] = /^package:\/\/([^/]+)\/(.+)$/.exec(filename) ?? [];
  if (name === undefined || rest === undefined) {
    const plain = filename.replace(/^file:\/\//, '');
    return [path.resolve(folder, plain)];
  }
  const above: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    above.push(at);
    if (path.dirname(at) === at) break;
  }
  const roots = [
    ...above,
    ...(process.env['ROS_PACKAGE_PATH'] ?? '').split(':').filter((each) => each !== ''),
  ];
  return roots.flatMap((root) => [
    path.join(root, name, rest),
    ...(path.basename(root) === name ? [path.join(root, rest)] : []),
  ]);
}
