/**
 * Deflection of a six-axis cap as motion. The device: x right, y toward the person, z down, and right-handed
 * rotations about them. The hand: right-handed, Y up, −Z forward.
 */
const HAND_AXES: readonly (readonly [axis: number, sign: 1 | -1])[] = [
  [0, 1],
  [2, -1],
  [1, 1],
];
/** A hand that has wandered this far stays there. */
const MAX_M = 4;

/**
 * Translation and rotation along the hand's axes, −1 to 1 each, from the device's counts. Deflection grows
 * with its square: fine near the middle. False if the cap is at rest. Hot path.
 */
export function capDeflection(
  counts: ArrayLike<number>,
  fullCounts: number,
  deadZone: number,
  out: Float64Array,
): boolean {
  let isDeflected = false;
  for (let i = 0; i < 6; i++) {
    const [axis, sign] = HAND_AXES[i % 3]!;
    const share = counts[axis + (i < 3 ? 0 : 3)]! / fullCounts;
    const beyond = Math.max(0, Math.min(1, Math.abs(share)) - deadZone) / (1 - deadZone);
    out[i] = sign * Math.sign(share) * beyond * beyond;
    if (beyond > 0) isDeflected = true;
  }
  return isDeflected;
}

/** Moves a hand by a deflection for one step: `stepM` and `stepRad` at full deflection. Hot path. */
export function moveByCap(
  deflection: ArrayLike<number>,
  stepM: number,
  stepRad: number,
  positionM: Float64Array | number[],
  quatXyzw: Float64Array | number[],
): void {
  for (let i = 0; i < 3; i++)
    positionM[i] = Math.max(-MAX_M, Math.min(MAX_M, positionM[i]! + deflection[i]! * stepM));
  const half = stepRad / 2;
  const [x, y, z] = [deflection[3]! * half, deflection[4]! * half, deflection[5]! * half];
  const size = Math.hypot(x, y, z);
  if (size === 0) return;
  const s = Math.sin(size) / size;
  turn(quatXyzw, x * s, y * s, z * s, Math.cos(size));
}

/** The rotation after `quatXyzw`, in the same frame; keeps the length at 1. */
function turn(quatXyzw: Float64Array | number[], x: number, y: number, z: number, w: number): void {
  const [qx, qy, qz, qw] = [quatXyzw[0]!, quatXyzw[1]!, quatXyzw[2]!, quatXyzw[3]!];
  const rx = w * qx + x * qw + y * qz - z * qy;
  const ry = w * qy - x * qz + y * qw + z * qx;
  const rz = w * qz + x * qy - y * qx + z * qw;
  const rw = w * qw - x * qx - y * qy - z * qz;
  const norm = Math.hypot(rx, ry, rz, rw);
  quatXyzw[0] = rx / norm;
  quatXyzw[1] = ry / norm;
  quatXyzw[2] = rz / norm;
  quatXyzw[3] = rw / norm;
}
