import { createChain } from '../../src/core/chain.ts';
import type { RobotModel } from '../../src/core/robot-model.ts';

const LEAST_M = 0.1;
/** The part of an arm's stretched length that it works in. */
const WORKING_SHARE = 0.65;
/** In units of reach, how high the view shows. */
const SHOWN_HEIGHT = 1.2;

/** How large the picture must be: upper arm and forearm of a UR, for others about as much of their length. */
export function reachOf(model: RobotModel | null): number {
  if (model === null) return LEAST_M;
  if (model.family === 'ur') {
    const lengths = model.joints.map((joint) => Math.abs(joint.dh?.aM ?? 0));
    return Math.max(
      LEAST_M,
      lengths.reduce((sum, length) => sum + length, 0),
    );
  }
  const origins = new Float64Array(3 * (model.joints.length + 1));
  createChain(model).linkOrigins(model.homeRad, origins);
  let lengthM = 0;
  let topM = 0;
  for (let i = 3; i < origins.length; i += 3) {
    const stepM = Math.hypot(...[0, 1, 2].map((axis) => origins[i + axis]! - origins[i + axis - 3]!));
    if (i > 3) lengthM += stepM;
    topM = Math.max(topM, origins[i + 2]!);
  }
  return Math.max(LEAST_M, WORKING_SHARE * lengthM, topM / SHOWN_HEIGHT);
}
