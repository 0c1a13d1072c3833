/**
 * Distances between simple shapes. Points are x, y, z at an offset in an array. Hot path: nothing allocates.
 * Results go into an array: V8 boxes a float returned from a call.
 */

const clamp01 = (value: number): number => Math.max(0, Math.min(1, value));
const TINY = 1e-18;
/** Larger than any distance that affects the motion. */
export const FAR_M = 0.3;

export function segmentDistance(ends: Float64Array, a: number, b: number): number {
  segmentDistanceInto(ends, a, b, result, 0);
  return result[0]!;
}

const result = new Float64Array(1);

/** Between segments p0 p1 at `a` and `b` (six numbers each) of `ends`, to `out[at]`. */
export function segmentDistanceInto(
  ends: Float64Array,
  a: number,
  b: number,
  out: Float64Array,
  at: number,
): void {
  const ux = ends[a + 3]! - ends[a]!;
  const uy = ends[a + 4]! - ends[a + 1]!;
  const uz = ends[a + 5]! - ends[a + 2]!;
  const vx = ends[b + 3]! - ends[b]!;
  const vy = ends[b + 4]! - ends[b + 1]!;
  const vz = ends[b + 5]! - ends[b + 2]!;
  const wx = ends[a]! - ends[b]!;
  const wy = ends[a + 1]! - ends[b + 1]!;
  const wz = ends[a + 2]! - ends[b + 2]!;
  const uu = ux * ux + uy * uy + uz * uz;
  const uv = ux * vx + uy * vy + uz * vz;
  const vv = vx * vx + vy * vy + vz * vz;
  const uw = ux * wx + uy * wy + uz * wz;
  const vw = vx * wx + vy * wy + vz * wz;
  const determinant = uu * vv - uv * uv;
  // The nearest point of the first line, or any point if the two are parallel; then clamped to each segment.
  let s = determinant > TINY ? clamp01((uv * vw - vv * uw) / determinant) : 0;
  const t = vv > TINY ? clamp01((uv * s + vw) / vv) : 0;
  s = uu > TINY ? clamp01((uv * t - uw) / uu) : 0;
  const dx = wx + s * ux - t * vx;
  const dy = wy + s * uy - t * vy;
  const dz = wz + s * uz - t * vz;
  out[at] = Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/** From the segment at `a` of `ends` up to the plane z = `zM`; negative below. */
export function segmentHeight(ends: Float64Array, a: number, zM: number): number {
  return Math.min(ends[a + 2]!, ends[a + 5]!) - zM;
}

/** Signed distance of a coordinate outside an interval. */
const beyond = (x: number, low: number, high: number): number =>
  x < low ? x - low : x > high ? x - high : 0;

export function segmentBoxDistance(ends: Float64Array, a: number, boxes: Float64Array, b: number): number {
  segmentBoxDistanceInto(ends, a, boxes, b, result, 0);
  return result[0]!;
}

/** Position on the segment, 0 to 1, and the slope there. */
const place = new Float64Array(2);

/**
 * From the segment at `a` of `ends` to the box at `b` of `boxes` (lower corner, upper corner), to `out[at]`;
 * 0 if they meet. The squared distance along the segment is convex, and quadratic between the points where it
 * crosses the planes of the faces; the search narrows until one quadratic is left. Beyond `FAR_M` the result
 * may be too small, but not below `FAR_M`.
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
  nearestPlace(ends, a, boxes, b);
  const share = place[0]!;
  let square = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const x = from + share * (ends[a + 3 + axis]! - from);
    const off = beyond(x, boxes[b + axis]!, boxes[b + 3 + axis]!);
    square += off * off;
  }
  out[at] = Math.sqrt(square);
}

/** Finds the point of the segment nearest to the box, into `place`. */
function nearestPlace(ends: Float64Array, a: number, boxes: Float64Array, b: number): void {
  let low = 0;
  let high = 1;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const span = ends[a + 3 + axis]! - from;
    if (span === 0) continue;
    for (let side = 0; side < 6; side += 3) {
      const share = (boxes[b + side + axis]! - from) / span;
      if (share <= low || share >= high) continue;
      place[0] = share;
      slope(ends, a, boxes, b);
      if (place[1]! > 0) high = share;
      else low = share;
    }
  }
  place[0] = high;
  slope(ends, a, boxes, b);
  const atHigh = place[1]!;
  place[0] = low;
  slope(ends, a, boxes, b);
  const atLow = place[1]!;
  const rise = atHigh - atLow;
  if (atLow >= 0) return;
  if (atHigh <= 0) place[0] = high;
  else if (rise > 0) place[0] = low - (atLow * (high - low)) / rise;
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

/** Half the derivative of the squared distance along the segment at `place[0]`, to `place[1]`. */
function slope(ends: Float64Array, a: number, boxes: Float64Array, b: number): void {
  const share = place[0]!;
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const span = ends[a + 3 + axis]! - from;
    sum += span * beyond(from + share * span, boxes[b + axis]!, boxes[b + 3 + axis]!);
  }
  place[1] = sum;
}
