/**
 * Rotations and rigid transforms. Vectors are x, y, z; quaternions x, y, z, w; matrices 3×3 row-major.
 * Results go into caller-owned arrays, which may be one of the inputs. Hot path: nothing allocates except
 * `transform` and `compose` without `out`.
 */

declare const frames: unique symbol;

/** Pose of frame `From` in frame `To`: `Transform<'base', 'tool'>` is `baseFromTool`. */
export interface Transform<To extends string, From extends string> {
  readonly [frames]: readonly [to: To, from: From];
  readonly positionM: Float64Array;
  readonly quatXyzw: Float64Array;
}

/** Names the frames of a pose; keeps the given arrays. */
export function transform<To extends string, From extends string>(
  positionM: Float64Array = new Float64Array(3),
  quatXyzw: Float64Array = new Float64Array([0, 0, 0, 1]),
): Transform<To, From> {
  return { positionM, quatXyzw } as Transform<To, From>;
}

/** `compose(baseFromTool, toolFromTip)` is `baseFromTip`; a mismatched inner frame does not compile. */
export function compose<A extends string, B extends string, C extends string>(
  aFromB: Transform<A, B>,
  bFromC: Transform<NoInfer<B>, C>,
  out: Transform<A, C> = transform(),
): Transform<A, C> {
  const xM = aFromB.positionM[0]!;
  const yM = aFromB.positionM[1]!;
  const zM = aFromB.positionM[2]!;
  quatRotate(aFromB.quatXyzw, bFromC.positionM, out.positionM);
  quatMultiply(aFromB.quatXyzw, bFromC.quatXyzw, out.quatXyzw);
  out.positionM[0]! += xM;
  out.positionM[1]! += yM;
  out.positionM[2]! += zM;
  return out;
}

/** Device world (right-handed, Y up, −Z forward) seen from the robot base (X forward, Y left, Z up). */
export const baseFromVr: Transform<'base', 'vr'> = transform(
  new Float64Array(3),
  new Float64Array([0.5, -0.5, -0.5, 0.5]),
);

export function quatMultiply(a: Float64Array, b: Float64Array, out: Float64Array): void {
  const ax = a[0]!;
  const ay = a[1]!;
  const az = a[2]!;
  const aw = a[3]!;
  const bx = b[0]!;
  const by = b[1]!;
  const bz = b[2]!;
  const bw = b[3]!;
  out[0] = aw * bx + ax * bw + ay * bz - az * by;
  out[1] = aw * by - ax * bz + ay * bw + az * bx;
  out[2] = aw * bz + ax * by - ay * bx + az * bw;
  out[3] = aw * bw - ax * bx - ay * by - az * bz;
}

export function quatConjugate(q: Float64Array, out: Float64Array): void {
  out[0] = -q[0]!;
  out[1] = -q[1]!;
  out[2] = -q[2]!;
  out[3] = q[3]!;
}

/** False, with `out` untouched, if `q` is not finite or too short to have a direction. */
export function quatNormalise(q: Float64Array, out: Float64Array): boolean {
  const squared = q[0]! * q[0]! + q[1]! * q[1]! + q[2]! * q[2]! + q[3]! * q[3]!;
  if (!(squared > 1e-12 && squared < 1e12)) return false;
  const scale = 1 / Math.sqrt(squared);
  for (let i = 0; i < 4; i++) out[i] = q[i]! * scale;
  return true;
}

/** Rotates `v` by the unit quaternion `q`. */
export function quatRotate(q: Float64Array, v: Float64Array, out: Float64Array): void {
  const qx = q[0]!;
  const qy = q[1]!;
  const qz = q[2]!;
  const qw = q[3]!;
  const x = v[0]!;
  const y = v[1]!;
  const z = v[2]!;
  const tx = 2 * (qy * z - qz * y);
  const ty = 2 * (qz * x - qx * z);
  const tz = 2 * (qx * y - qy * x);
  out[0] = x + qw * tx + qy * tz - qz * ty;
  out[1] = y + qw * ty + qz * tx - qx * tz;
  out[2] = z + qw * tz + qx * ty - qy * tx;
}

/** Matrix of the unit quaternion `q`. */
export function matrixFromQuat(q: Float64Array, out: Float64Array): void {
  const x = q[0]!;
  const y = q[1]!;
  const z = q[2]!;
  const w = q[3]!;
  out[0] = 1 - 2 * (y * y + z * z);
  out[1] = 2 * (x * y - z * w);
  out[2] = 2 * (x * z + y * w);
  out[3] = 2 * (x * y + z * w);
  out[4] = 1 - 2 * (x * x + z * z);
  out[5] = 2 * (y * z - x * w);
  out[6] = 2 * (x * z - y * w);
  out[7] = 2 * (y * z + x * w);
  out[8] = 1 - 2 * (x * x + y * y);
}

/** Unit quaternion of the rotation matrix `m`, divided by its largest component, so never ill-conditioned. */
export function quatFromMatrix(m: Float64Array, out: Float64Array): void {
  const xx = m[0]!;
  const yy = m[4]!;
  const zz = m[8]!;
  const trace = xx + yy + zz;
  let x = m[7]! - m[5]!;
  let y = m[2]! - m[6]!;
  let z = m[3]! - m[1]!;
  let w = 1 + trace;
  if (trace < xx && xx >= yy && xx >= zz) {
    w = x;
    x = 1 + xx - yy - zz;
    y = m[1]! + m[3]!;
    z = m[2]! + m[6]!;
  } else if (trace < yy && yy >= zz) {
    w = y;
    x = m[1]! + m[3]!;
    y = 1 + yy - xx - zz;
    z = m[5]! + m[7]!;
  } else if (trace < zz) {
    w = z;
    x = m[2]! + m[6]!;
    y = m[5]! + m[7]!;
    z = 1 + zz - xx - yy;
  }
  const scale = 1 / Math.sqrt(x * x + y * y + z * z + w * w);
  out[0] = x * scale;
  out[1] = y * scale;
  out[2] = z * scale;
  out[3] = w * scale;
}

/** Axis times angle, angle in [0, π], of the unit quaternion `q`. */
export function rotvecFromQuat(q: Float64Array, out: Float64Array): void {
  const sign = q[3]! < 0 ? -1 : 1;
  const sine = Math.sqrt(q[0]! * q[0]! + q[1]! * q[1]! + q[2]! * q[2]!);
  const scale = sine < 1e-12 ? 2 * sign : (2 * sign * Math.atan2(sine, sign * q[3]!)) / sine;
  for (let i = 0; i < 3; i++) out[i] = q[i]! * scale;
}

/** Angle of the rotation between two unit quaternions, in [0, π]; exact for small angles. */
export function quatAngleRad(a: Float64Array, b: Float64Array): number {
  const w = a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]! + a[3]! * b[3]!;
  const x = a[3]! * b[0]! - a[0]! * b[3]! - a[1]! * b[2]! + a[2]! * b[1]!;
  const y = a[3]! * b[1]! - a[1]! * b[3]! - a[2]! * b[0]! + a[0]! * b[2]!;
  const z = a[3]! * b[2]! - a[2]! * b[3]! - a[0]! * b[1]! + a[1]! * b[0]!;
  return 2 * Math.atan2(Math.sqrt(x * x + y * y + z * z), Math.abs(w));
}

/** The same angle in [−π, π]. */
export function wrapRad(angleRad: number): number {
  return angleRad - TURN_RAD * Math.round(angleRad / TURN_RAD);
}

export const TURN_RAD = 2 * Math.PI;
