import { createChain, TRANSFORM_SIZE } from '../../src/geometry/chain.ts';
import type { RobotModel } from '../../src/geometry/robot-model.ts';

const LEAST_M = 0.1;
const HAND_M = 0.2;
/** Working reach as a fraction of the stretched length. */
const WORKING_SHARE = 0.65;
/** Height of the view in units of reach. */
const SHOWN_HEIGHT = 1.2;

/** Size of the view: upper arm plus forearm of a UR, or a comparable part of other arms. */
export function reachOf(model: RobotModel | null): number {
  if (model === null) return LEAST_M;
  if (model.family === 'hand') return HAND_M;
  if (model.family === 'ur') {
    const lengths = model.joints.map((joint) => Math.abs(joint.dh?.aM ?? 0));
    return Math.max(
      LEAST_M,
      lengths.reduce((sum, length) => sum + length, 0),
    );
  }
  const chain = createChain(model);
  const poses = new Float64Array(TRANSFORM_SIZE * (chain.joints + 1));
  chain.frames(model.homeRad, poses);
  let lengthM = 0;
  let topM = 0;
  for (let i = 1; i <= chain.joints; i++) {
    const at = TRANSFORM_SIZE * i;
    const stepM = Math.hypot(...[3, 7, 11].map((k) => poses[at + k]! - poses[at + k - TRANSFORM_SIZE]!));
    if (i > 1) lengthM += stepM;
    topM = Math.max(topM, poses[at + 11]!);
  }
  for (const { frame, fromM, toM, radiusM } of model.capsules)
    for (const endM of [fromM, toM]) topM = Math.max(topM, heightOf(poses, frame, endM) + radiusM);
  return Math.max(LEAST_M, WORKING_SHARE * lengthM, topM / SHOWN_HEIGHT);
}

function heightOf(poses: Float64Array, frame: number, [x, y, z]: readonly [number, number, number]): number {
  const at = TRANSFORM_SIZE * frame + 8;
  return poses[at]! * x + poses[at + 1]! * y + poses[at + 2]! * z + poses[at + 3]!;
}
