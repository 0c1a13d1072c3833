/** Distances between simple shapes. Points lie in one array, x y z, at an offset. Hot path: nothing allocates. */

const clamp01 = (value: number): number => Math.max(0, Math.min(1, value));
const TINY = 1e-18;
/** Farther than anything that is acted on. */
export const FAR_M = 0.3;

/** Between segments p0 p1 at `a` and `b` (six numbers each) of `ends`. */
export function segmentDistance(ends: Float64Array, a: number, b: number): number {
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
  // The nearest point of the first line, or any of it where the two are parallel; then each on its own segment.
  let s = determinant > TINY ? clamp01((uv * vw - vv * uw) / determinant) : 0;
  const t = vv > TINY ? clamp01((uv * s + vw) / vv) : 0;
  s = uu > TINY ? clamp01((uv * t - uw) / uu) : 0;
  const dx = wx + s * ux - t * vx;
  const dy = wy + s * uy - t * vy;
  const dz = wz + s * uz - t * vz;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/** From the segment at `a` of `ends` up to the plane z = `zM`; negative below. */
export function segmentHeight(ends: Float64Array, a: number, zM: number): number {
  return Math.min(ends[a + 2]!, ends[a + 5]!) - zM;
}

/** How far a coordinate lies outside an interval, with its sign. */
const beyond = (x: number, low: number, high: number): number =>
  x < low ? x - low : x > high ? x - high : 0;

/**
 * From the segment at `a` of `ends` to the box at `b` of `boxes` (lower corner, upper corner); 0 where they meet.
 * The squared distance along the segment is convex and quadratic between the points where it crosses the planes of the
 * faces: these are cut away until one quadratic is left. Beyond `FAR_M` the answer may be too small, never below it.
 */
export function segmentBoxDistance(ends: Float64Array, a: number, boxes: Float64Array, b: number): number {
  const coarse = coarseBoxDistance(ends, a, boxes, b);
  if (coarse > FAR_M) return coarse;
  let low = 0;
  let high = 1;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const span = ends[a + 3 + axis]! - from;
    if (span === 0) continue;
    for (let side = 0; side < 6; side += 3) {
      const at = (boxes[b + side + axis]! - from) / span;
      if (at <= low || at >= high) continue;
      if (slope(ends, a, boxes, b, at) > 0) high = at;
      else low = at;
    }
  }
  const atLow = slope(ends, a, boxes, b, low);
  const atHigh = slope(ends, a, boxes, b, high);
  const rise = atHigh - atLow;
  const at = atLow >= 0 ? low : atHigh <= 0 ? high : rise > 0 ? low - (atLow * (high - low)) / rise : low;
  let square = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const x = from + at * (ends[a + 3 + axis]! - from);
    const out = beyond(x, boxes[b + axis]!, boxes[b + 3 + axis]!);
    square += out * out;
  }
  return Math.sqrt(square);
}

/** From the middle of the segment, less half its length. */
function coarseBoxDistance(ends: Float64Array, a: number, boxes: Float64Array, b: number): number {
  let square = 0;
  let length = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const to = ends[a + 3 + axis]!;
    const out = beyond((from + to) / 2, boxes[b + axis]!, boxes[b + 3 + axis]!);
    square += out * out;
    length += (to - from) * (to - from);
  }
  return Math.sqrt(square) - Math.sqrt(length) / 2;
}

/** Half the derivative of the squared distance along the segment. */
function slope(ends: Float64Array, a: number, boxes: Float64Array, b: number, at: number): number {
  let sum = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const span = ends[a + 3 + axis]! - from;
    sum += span * beyond(from + at * span, boxes[b + axis]!, boxes[b + 3 + axis]!);
  }
  return sum;
}
