import type { Chain } from '../../src/geometry/chain.ts';

const JOINTS = 6;
const STEPS = 60;
const DAMPING = 1e-4;
const CLOSE_M = 2e-5;
const CLOSE_RAD = 2e-4;

/** Roll, pitch, yaw to 3×3 row-major, R = Rz Ry Rx. */
function matrixFromRpy([roll, pitch, yaw]: readonly number[]): number[] {
  const [cr, sr] = [Math.cos(roll!), Math.sin(roll!)];
  const [cp, sp] = [Math.cos(pitch!), Math.sin(pitch!)];
  const [cy, sy] = [Math.cos(yaw!), Math.sin(yaw!)];
  return [
    cy * cp,
    cy * sp * sr - sy * cr,
    cy * sp * cr + sy * sr,
    sy * cp,
    sy * sp * sr + cy * cr,
    sy * sp * cr - cy * sr,
    -sp,
    cp * sr,
    cp * cr,
  ];
}

/** Joint angles near `startRad` that bring the flange to a pose; null if damped least squares finds none. */
export function solvePose(
  chain: Chain,
  startRad: ArrayLike<number>,
  positionM: readonly number[],
  rpyRad: readonly number[],
): Float64Array | null {
  const q = Float64Array.from(startRad);
  const goal = matrixFromRpy(rpyRad);
  const jacobian = new Float64Array(6 * JOINTS);
  const flange = new Float64Array(12);
  for (let step = 0; step < STEPS; step++) {
    chain.jacobian(q, jacobian, flange);
    const error = poseError(flange, positionM, goal);
    if (Math.hypot(...error.slice(0, 3)) < CLOSE_M && Math.hypot(...error.slice(3)) < CLOSE_RAD) return q;
    const change = leastSquares(jacobian, error);
    const largest = Math.max(...change.map(Math.abs));
    const scale = largest > 0.3 ? 0.3 / largest : 1;
    for (let i = 0; i < JOINTS; i++) q[i] = q[i]! + change[i]! * scale;
  }
  return null;
}

/** Position difference, and the rotation vector from the current to the target orientation (small angles). */
function poseError(flange: Float64Array, positionM: readonly number[], goal: readonly number[]): number[] {
  const error = [0, 1, 2].map((row) => positionM[row]! - flange[row * 4 + 3]!);
  const turn = [0, 0, 0];
  for (let column = 0; column < 3; column++) {
    const [ax, ay, az] = [0, 1, 2].map((row) => flange[row * 4 + column]!) as [number, number, number];
    const [bx, by, bz] = [0, 1, 2].map((row) => goal[row * 3 + column]!) as [number, number, number];
    turn[0]! += (ay * bz - az * by) / 2;
    turn[1]! += (az * bx - ax * bz) / 2;
    turn[2]! += (ax * by - ay * bx) / 2;
  }
  return [...error, ...turn];
}

/** (JᵀJ + λ)⁻¹ Jᵀ e by elimination. */
function leastSquares(jacobian: Float64Array, error: readonly number[]): number[] {
  const rows = Array.from({ length: JOINTS }, (_, i) => {
    const row = Array.from({ length: JOINTS }, (_, j) => {
      let sum = i === j ? DAMPING : 0;
      for (let k = 0; k < 6; k++) sum += jacobian[k * JOINTS + i]! * jacobian[k * JOINTS + j]!;
      return sum;
    });
    let right = 0;
    for (let k = 0; k < 6; k++) right += jacobian[k * JOINTS + i]! * error[k]!;
    return [...row, right];
  });
  for (let i = 0; i < JOINTS; i++) {
    // Positive definite: no pivoting needed.
    const pivot = rows[i]![i]!;
    for (let r = 0; r < JOINTS; r++) {
      if (r === i) continue;
      const factor = rows[r]![i]! / pivot;
      for (let c = i; c <= JOINTS; c++) rows[r]![c]! -= factor * rows[i]![c]!;
    }
  }
  return rows.map((row, i) => row[JOINTS]! / row[i]!);
}
