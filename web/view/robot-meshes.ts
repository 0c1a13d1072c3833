import { type BufferGeometry, Color, Mesh, type Object3D } from 'three';
import type { RobotModel } from '../../src/geometry/robot-model.ts';
import type { ConsoleMesh } from '../../src/messages/console.ts';
import type { ArmMaterial } from './arm-body.ts';
import { mergeParts, type Part } from './shapes.ts';

const known = new WeakMap<RobotModel, readonly ConsoleMesh[]>();

/** Call before the model is drawn. */
export function setMeshes(model: RobotModel, meshes: readonly ConsoleMesh[]): void {
  known.set(model, meshes);
}

/**
 * Shows the meshes of a model in the frames of its chain in place of `simple`, once they are read. A file that cannot be
 * read leaves the shapes as they are.
 */
export function dressFrames(
  model: RobotModel,
  frames: readonly Object3D[],
  simple: readonly Object3D[],
  material: ArmMaterial,
  colour: number,
): void {
  const meshes = known.get(model) ?? [];
  if (meshes.length > 0) void dress(meshes, frames, simple, material, colour).catch(report);
}

async function dress(
  meshes: readonly ConsoleMesh[],
  frames: readonly Object3D[],
  simple: readonly Object3D[],
  material: ArmMaterial,
  colour: number,
): Promise<void> {
  const { placeOf, readMeshes } = await import('./mesh-files.ts');
  const parts: Part[][] = frames.map(() => []);
  for (const mesh of meshes) {
    const own = mesh.colour === null ? null : new Color(mesh.colour).getHex();
    for (const { geometry, colour: found } of await readMeshes(mesh))
      parts[mesh.frame]?.push({ geometry: placed(geometry, placeOf(mesh)), colour: own ?? found ?? colour });
  }
  for (const each of simple) each.visible = false;
  frames.forEach((frame, i) => {
    if (parts[i]!.length > 0) frame.add(material.dress(new Mesh(mergeParts(parts[i]!))));
  });
  document.documentElement.dataset['meshes'] = String(meshes.length);
  document.dispatchEvent(new Event('meshesshown'));
}

const placed = (
  geometry: BufferGeometry,
  at: Parameters<BufferGeometry['applyMatrix4']>[0],
): BufferGeometry => geometry.clone().applyMatrix4(at);

function report(error: unknown): void {
  console.warn(`farhand: the robot is shown without its meshes: ${(error as Error).message}`);
}
