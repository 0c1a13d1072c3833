import { beyond, nearestOnBox, nearestOnSegments } from './nearest-points.ts';

/**
 * Distances between simple shapes. Points are x, y, z at an offset in an array. Hot path: nothing allocates.
 * Results go into an array: V8 boxes a float returned from a call.
 */

/** Larger than any distance that affects the motion. */
export const FAR_M = 0.3;

export function segmentDistance(ends: Float64Array, a: number, b: number): number {
  segmentDistanceInto(ends, a, b, result, 0);
  return result[0]!;
}

const result = new Float64Array(1);
/** The nearest points of both shapes. */
const near = new Float64Array(6);

function apartInto(out: Float64Array, at: number): void {
  const dx = near[0]! - near[3]!;
  const dy = near[1]! - near[4]!;
  const dz = near[2]! - near[5]!;
  out[at] = Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/** Between segments p0 p1 at `a` and `b` (six numbers each) of `ends`, to `out[at]`. */
export function segmentDistanceInto(
  ends: Float64Array,
  a: number,
  b: number,
  out: Float64Array,
  at: number,
): void {
  nearestOnSegments(ends, a, b, near, 0);
  apartInto(out, at);
}

/** From the segment at `a` of `ends` up to the plane z = `zM`; negative below. */
export function segmentHeight(ends: Float64Array, a: number, zM: number): number {
  return Math.min(ends[a + 2]!, ends[a + 5]!) - zM;
}

/**
 * From the segment at `a` of `ends` to the box at `b` of `boxes` (lower corner, upper corner), to `out[at]`;
 * 0 if they meet. Beyond `FAR_M` the result may be too small, but not below `FAR_M`.
 */
export function segmentBoxDistanceInto(
  ends: Float64Array,
  a: number,
  boxes: Float64Array,
  b: number,
  out: Float64Array,
  at: number,
): void {
  coarseBoxDistance(ends, a, boxes, b, out, at);
  if (out[at]! > FAR_M) return;
  nearestOnBox(ends, a, boxes, b, near, 0);
  apartInto(out, at);
}

/** Lower bound: the distance from the segment's midpoint minus half its length. */
function coarseBoxDistance(
  ends: Float64Array,
  a: number,
  boxes: Float64Array,
  b: number,
  out: Float64Array,
  at: number,
): void {
  let square = 0;
  let length = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const to = ends[a + 3 + axis]!;
    const off = beyond((from + to) / 2, boxes[b + axis]!, boxes[b + 3 + axis]!);
    square += off * off;
    length += (to - from) * (to - from);
  }
  out[at] = Math.sqrt(square) - Math.sqrt(length) / 2;
}
