import { Group, Mesh, Object3D, Vector3 } from 'three';
import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import type { Capsule, RobotModel } from '../../src/geometry/robot-model.ts';
import type { ArmBody, ArmMaterial } from './arm-body.ts';
import type { Palette } from './palette.ts';
import { reachOf } from './reach.ts';
import { dressFrames } from './robot-meshes.ts';
import { mergeParts, type Part, type Shapes } from './shapes.ts';

/** Radii of generated links, for a reach of 0.457 m. */
const ROD_M = 0.02;
const HUB_M = 0.03;
const UR3_REACH_M = 0.457;
/** A capsule that extends farther than this beyond the flange encloses the gripper, which has its own mesh. */
const AHEAD_M = 0.02;
const UP = new Vector3(0, 0, 1);

/** Any arm, drawn from its collision capsules. Links without capsules become rods and hubs. */
export function createChainBody(
  model: RobotModel,
  palette: Palette,
  shapes: Shapes,
  material: ArmMaterial,
): ArmBody {
  const chain = createChain(model);
  const poses = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));
  const scale = Math.max(0.5, (reachOf(model) / UR3_REACH_M) ** 0.6);
  const root = new Group();
  const frames = Array.from({ length: chain.joints + 1 }, () => new Object3D());
  const shown = model.capsules.filter((capsule) => !enclosesGripper(model, capsule));
  const bodies = frames.map((frame, i) => {
    frame.matrixAutoUpdate = false;
    const body = material.dress(new Mesh(mergeParts(partsOf(shown, i, palette, shapes, HUB_M * scale))));
    root.add(frame.add(body));
    return body;
  });
  const rods = frames.slice(1).map((_, i) => {
    const bare = !shown.some(({ frame }) => frame === i || frame === i + 1);
    return bare ? createRod(palette, shapes, material, ROD_M * scale) : null;
  });
  // Hidden as one when meshes take their place.
  const between = new Group();
  for (const rod of rods) if (rod) between.add(rod);
  root.add(between);
  dressFrames(model, frames, [...bodies, between], material, palette.shell);
  const flange = frames.at(-1)!;
  return {
    root,
    flange,
    lead: flange,
    scale,
    setJoints(angles) {
      chain.frames(angles, poses);
      for (const [i, frame] of frames.entries()) placeFrame(frame, poses, i);
      for (const [i, rod] of rods.entries()) if (rod) span(rod, originOf(poses, i), originOf(poses, i + 1));
    },
  };
}

function enclosesGripper({ gripper, joints }: RobotModel, { frame, fromM, toM }: Capsule): boolean {
  return gripper && frame === joints.length && Math.max(fromM[2], toM[2]) > AHEAD_M;
}

/** The capsules of a frame, or a hub without any. */
function partsOf(
  capsules: readonly Capsule[],
  frame: number,
  palette: Palette,
  shapes: Shapes,
  hubM: number,
): Part[] {
  const own = capsules.filter((capsule) => capsule.frame === frame);
  const colour = frame % 2 === 0 ? palette.shell : palette.tube;
  if (own.length > 0)
    return own.map(({ radiusM, fromM, toM }) => ({ geometry: shapes.rod(radiusM, fromM, toM), colour }));
  return [{ geometry: shapes.rod(hubM, [0, 0, 0], [0, 0, 0]), colour: palette.cap }];
}

/** One metre along Z; `span` scales it. */
export function createRod(palette: Palette, shapes: Shapes, material: ArmMaterial, radiusM: number): Mesh {
  const geometry = shapes.drum(radiusM, 1, 'z', [0, 0, 0]);
  return material.dress(new Mesh(mergeParts([{ geometry, colour: palette.shell }])));
}

function originOf(poses: Float64Array, frame: number): Vector3 {
  const at = frame * TRANSFORM_SIZE;
  return new Vector3(poses[at + 3], poses[at + 7], poses[at + 11]);
}

/** Places a rod between two points. */
export function span(rod: Mesh, from: Vector3, to: Vector3): void {
  const direction = to.clone().sub(from);
  const lengthM = direction.length();
  rod.visible = lengthM > 1e-3;
  if (!rod.visible) return;
  rod.scale.z = lengthM;
  rod.quaternion.setFromUnitVectors(UP, direction.divideScalar(lengthM));
  rod.position.copy(from).add(to).multiplyScalar(0.5);
}

/** Sets an object to the pose of a chain frame. */
export function placeFrame(frame: Object3D, poses: Float64Array, index: number): void {
  const [a, b, c, x, d, e, f, y, g, h, i, z] = poses.subarray(
    index * TRANSFORM_SIZE,
    (index + 1) * TRANSFORM_SIZE,
  ) as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  frame.matrix.set(a, b, c, x, d, e, f, y, g, h, i, z, 0, 0, 0, 1);
  frame.matrixWorldNeedsUpdate = true;
}
