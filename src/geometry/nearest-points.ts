/**
 * Nearest points of simple shapes: `distance.ts` measures, this also says where. Points are x, y, z at an offset in an
 * array. Hot path: nothing allocates.
 */

const clamp01 = (value: number): number => Math.max(0, Math.min(1, value));
const TINY = 1e-18;

/** Nearest points of the segments at `a` and `b` of `ends`: first on a, then on b, to `out` at `at`. */
export function nearestOnSegments(
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
  // Parallel segments: the middle, so that the point does not jump from end to end.
  let s = determinant > TINY ? clamp01((uv * vw - vv * uw) / determinant) : 0.5;
  const t = vv > TINY ? clamp01((uv * s + vw) / vv) : 0;
  s = uu > TINY ? clamp01((uv * t - uw) / uu) : 0;
  out[at] = ends[a]! + s * ux;
  out[at + 1] = ends[a + 1]! + s * uy;
  out[at + 2] = ends[a + 2]! + s * uz;
  out[at + 3] = ends[b]! + t * vx;
  out[at + 4] = ends[b + 1]! + t * vy;
  out[at + 5] = ends[b + 2]! + t * vz;
}

/** Signed distance of a coordinate outside an interval. */
export const beyond = (x: number, low: number, high: number): number =>
  x < low ? x - low : x > high ? x - high : 0;

/** Position on the segment, 0 to 1, and the slope there. */
const place = new Float64Array(2);

/**
 * The same for the segment at `a` and the box at `b` of `boxes` (lower corner, upper corner). The squared distance along
 * the segment is convex, and quadratic between the points where it crosses the planes of the faces; the search narrows
 * until one quadratic is left.
 */
export function nearestOnBox(
  ends: Float64Array,
  a: number,
  boxes: Float64Array,
  b: number,
  out: Float64Array,
  at: number,
): void {
  nearestPlace(ends, a, boxes, b);
  const share = place[0]!;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const x = from + share * (ends[a + 3 + axis]! - from);
    out[at + axis] = x;
    out[at + 3 + axis] = x - beyond(x, boxes[b + axis]!, boxes[b + 3 + axis]!);
  }
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
