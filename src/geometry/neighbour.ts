import { createChain, placementMatrix, TRANSFORM_SIZE } from './chain.ts';
import { type Neighbour, neighbourCapsules } from './pairings.ts';
import type { RobotModel } from './robot-model.ts';

/** Where the other arm of a pair stands, as a rig states it. */
interface PairPlacement {
  baseXyzM: RobotModel['tool']['xyzM'];
  baseRpyRad: RobotModel['tool']['rpyRad'];
  sharedBase: boolean;
  marginM: number;
}

export function neighbourOf(pair: PairPlacement | null, model: RobotModel | null): Neighbour | null {
  if (pair === null || model === null) return null;
  const { baseXyzM, baseRpyRad, sharedBase, marginM } = pair;
  return { model, base: { xyzM: baseXyzM, rpyRad: baseRpyRad }, sharedBase, marginM };
}

/** Puts both ends of another arm's capsules into `ends`, six numbers each, in our base frame. Hot path. */
export function neighbourPlacer(neighbour: Neighbour, ends: Float64Array): (qRad: ArrayLike<number>) => void {
  const capsules = neighbourCapsules(neighbour);
  const chain = createChain(neighbour.model);
  const frames = new Float64Array((chain.joints + 1) * TRANSFORM_SIZE);
  const local = Float64Array.from(capsules.flatMap(({ fromM, toM }) => [...fromM, ...toM]));
  const inItsBase = new Float64Array(local.length);
  const baseFromIts = placementMatrix(neighbour.base);
  return (qRad) => {
    chain.frames(qRad, frames);
    for (let i = 0; i < 2 * capsules.length; i++) {
      placePoint(frames, capsules[i >> 1]!.frame * TRANSFORM_SIZE, local, i * 3, inItsBase);
      placePoint(baseFromIts, 0, inItsBase, i * 3, ends);
    }
  };
}

/** Transforms a point from a frame to the base frame, into the same index of `out`. */
export function placePoint(
  frames: Float64Array,
  frame: number,
  local: Float64Array,
  at: number,
  out: Float64Array,
): void {
  const x = local[at]!;
  const y = local[at + 1]!;
  const z = local[at + 2]!;
  for (let axis = 0; axis < 3; axis++) {
    const row = frame + axis * 4;
    out[at + axis] = frames[row]! * x + frames[row + 1]! * y + frames[row + 2]! * z + frames[row + 3]!;
  }
}
