import { PALM, spanM } from '../hand/points.ts';

const [THUMB_TIP, INDEX_TIP] = [4, 8];
/** Between the tips of thumb and index finger: closed, and open. */
const CLOSED_M = 0.02;
const OPEN_M = 0.09;

/** How far thumb and index finger are pinched: 0 open … 1 closed. */
export function pinchOf(pointsM: Float64Array): number {
  return Math.min(1, Math.max(0, (OPEN_M - spanM(pointsM, THUMB_TIP, INDEX_TIP)) / (OPEN_M - CLOSED_M)));
}

/**
 * Orientation of a whole hand: −Z along the palm to the middle finger, +Y out of its back, as for WebXR
 * joints. Palm down, fingers ahead is the identity for both hands. Hot path: nothing allocates.
 */
export function palmQuat(p: Float64Array, isLeft: boolean, outXyzw: Float64Array): void {
  const zl = spanM(p, PALM.wrist, PALM.middle);
  const zx = (p[0]! - p[3 * PALM.middle]!) / zl;
  const zy = (p[1]! - p[3 * PALM.middle + 1]!) / zl;
  const zz = (p[2]! - p[3 * PALM.middle + 2]!) / zl;
  // From the left of the palm to its right: away from the thumb of a right hand.
  const side = isLeft ? -1 : 1;
  const ax = side * (p[3 * PALM.pinky]! - p[3 * PALM.index]!);
  const ay = side * (p[3 * PALM.pinky + 1]! - p[3 * PALM.index + 1]!);
  const az = side * (p[3 * PALM.pinky + 2]! - p[3 * PALM.index + 2]!);
  let yx = zy * az - zz * ay;
  let yy = zz * ax - zx * az;
  let yz = zx * ay - zy * ax;
  const yl = Math.hypot(yx, yy, yz);
  yx /= yl;
  yy /= yl;
  yz /= yl;
  quatOfAxes(yy * zz - yz * zy, yz * zx - yx * zz, yx * zy - yy * zx, yx, yy, yz, zx, zy, zz, outXyzw);
}

/** Of the rotation whose columns are X, Y and Z. */
function quatOfAxes(
  xx: number,
  xy: number,
  xz: number,
  yx: number,
  yy: number,
  yz: number,
  zx: number,
  zy: number,
  zz: number,
  out: Float64Array,
): void {
  // The largest of the four is found first, to avoid dividing by a small number (Shepperd).
  const w = 1 + xx + yy + zz;
  const x = 1 + xx - yy - zz;
  const y = 1 - xx + yy - zz;
  const z = 1 - xx - yy + zz;
  const most = Math.max(w, x, y, z);
  const [a, b, c] = [yz - zy, zx - xz, xy - yx];
  const [d, e, f] = [xy + yx, zx + xz, yz + zy];
  if (most === w) put(out, a, b, c, w);
  else if (most === x) put(out, x, d, e, a);
  else if (most === y) put(out, d, y, f, b);
  else put(out, e, f, z, c);
}

function put(out: Float64Array, x: number, y: number, z: number, w: number): void {
  const norm = Math.hypot(x, y, z, w);
  out[0] = x / norm;
  out[1] = y / norm;
  out[2] = z / norm;
  out[3] = w / norm;
}
