/**
 * Nearest points of simple shapes: `distance.ts` measures, this also says where. Points are x, y, z at an offset in an
 * array. Hot path: nothing allocates.
 */

const clamp01 = (value: number): number => Math.max(0, Math.min(1, value));
const TINY = 1e-18;
/** Rounds of the search on a segment; each narrows it to 0.62. */
const ROUNDS = 24;

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

/** The same for the segment at `a` and the box at `b` of `boxes` (lower corner, upper corner). */
export function nearestOnBox(
  ends: Float64Array,
  a: number,
  boxes: Float64Array,
  b: number,
  out: Float64Array,
  at: number,
): void {
  let low = 0;
  let high = 1;
  // The squared distance is convex along the segment.
  for (let round = 0; round < ROUNDS; round++) {
    const third = (high - low) * 0.381966;
    if (squareAt(ends, a, boxes, b, low + third) < squareAt(ends, a, boxes, b, high - third)) high -= third;
    else low += third;
  }
  const share = (low + high) / 2;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const x = from + share * (ends[a + 3 + axis]! - from);
    out[at + axis] = x;
    out[at + 3 + axis] = Math.max(boxes[b + axis]!, Math.min(boxes[b + 3 + axis]!, x));
  }
}

function squareAt(ends: Float64Array, a: number, boxes: Float64Array, b: number, share: number): number {
  let square = 0;
  for (let axis = 0; axis < 3; axis++) {
    const from = ends[a + axis]!;
    const x = from + share * (ends[a + 3 + axis]! - from);
    const off = x - Math.max(boxes[b + axis]!, Math.min(boxes[b + 3 + axis]!, x));
    square += off * off;
  }
  return square;
}
