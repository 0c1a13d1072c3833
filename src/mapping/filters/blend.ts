import { quatNormalise } from '../../geometry/frames.ts';

/** Moves `state` towards `sample` by the share `alpha`. */
export function blendVector(state: Float64Array, sample: Float64Array, alpha: number): void {
  for (let i = 0; i < state.length; i++) state[i]! += alpha * (sample[i]! - state[i]!);
}

/** The same for unit quaternions, along the shorter path: q and −q are the same rotation. */
export function blendQuat(state: Float64Array, sample: Float64Array, alpha: number): void {
  const share = alignment(state, sample) * alpha;
  for (let i = 0; i < 4; i++) state[i] = (1 - alpha) * state[i]! + share * sample[i]!;
  quatNormalise(state, state);
}

/** The sign that brings `b` into the half-space of `a`. */
export function alignment(a: Float64Array, b: Float64Array): 1 | -1 {
  return a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]! + a[3]! * b[3]! < 0 ? -1 : 1;
}
