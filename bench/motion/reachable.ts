import type { RobotModel } from '../../src/geometry/robot-model.ts';
import {
  type Arm,
  add,
  cross,
  type Placed,
  pose,
  product,
  rotationVector,
  turned,
  type Vec,
} from './screw-kinematics.ts';

const ROUNDS = 40;
const DAMPING = 1e-7;
const CLOSE_M = 1e-4;
const CLOSE_RAD = 1e-3;
const MOST_TURN_RAD = 0.25;
/** Joints stay this far from the ends of their ranges. */
const JOINT_ROOM_RAD = 0.03;
export const STEP_M = 0.02;
/** A step of the path that turns a joint further than this passes a singularity. */
const MOST_JUMP_RAD = 0.35;

export interface Reacher {
  model: RobotModel;
  arm: Arm;
  /** Frame whose origin is guided. */
  lead: number;
  room(qRad: ArrayLike<number>): number;
  /** The same without surroundings. */
  selfRoom(qRad: ArrayLike<number>): number;
}

/** Joint angles that put the guided point here with this rotation of the flange; null: none near the seed. */
export function solve(reacher: Reacher, wanted: Placed, seedRad: Vec): number[] | null {
  const { model, arm, lead } = reacher;
  const q = [...seedRad];
  for (let round = 0; round < ROUNDS; round++) {
    const { frames, axes } = pose(arm, q);
    const offM = add(wanted.p, frames[lead]!.p, -1);
    const offRad = rotationVector(product(wanted.r, turned(frames[arm.joints]!.r)));
    if (Math.hypot(...offM) < CLOSE_M && Math.hypot(...offRad) < CLOSE_RAD)
      return model.joints.every(
        ({ minRad, maxRad }, i) => q[i]! > minRad + JOINT_ROOM_RAD && q[i]! < maxRad - JOINT_ROOM_RAD,
      )
        ? q
        : null;
    const columns = axes.map(({ axis, point }, i) => [
      ...(i < lead ? cross(axis, add(frames[lead]!.p, point, -1)) : [0, 0, 0]),
      ...axis,
    ]);
    const pull = solveSymmetric(gram(columns), [...offM, ...offRad]);
    const step = columns.map((column) => column.reduce((sum, value, k) => sum + value * pull[k]!, 0));
    const share = Math.min(1, MOST_TURN_RAD / Math.max(1e-9, ...step.map(Math.abs)));
    step.forEach((value, i) => {
      const { minRad, maxRad } = model.joints[i]!;
      q[i] = Math.max(minRad, Math.min(maxRad, q[i]! + share * value));
    });
  }
  return null;
}

/** J Jᵀ with a little damping. */
function gram(columns: readonly Vec[]): number[][] {
  return Array.from({ length: 6 }, (_, a) =>
    Array.from({ length: 6 }, (_, b) =>
      columns.reduce((sum, column) => sum + column[a]! * column[b]!, a === b ? DAMPING : 0),
    ),
  );
}

function solveSymmetric(m: number[][], right: number[]): number[] {
  const n = right.length;
  for (let i = 0; i < n; i++)
    for (let row = i + 1; row < n; row++) {
      const factor = m[row]![i]! / m[i]![i]!;
      for (let k = i; k < n; k++) m[row]![k]! -= factor * m[i]![k]!;
      right[row]! -= factor * right[i]!;
    }
  const x = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let sum = right[i]!;
    for (let k = i + 1; k < n; k++) sum -= m[i]![k]! * x[k]!;
    x[i] = sum / m[i]![i]!;
  }
  return x;
}

/**
 * Follows a straight line of the guided point from a pose, with the flange's rotation kept. Returns how far it gets
 * with this much room to everything, and the pose there.
 */
export function follow(
  reacher: Reacher,
  fromRad: Vec,
  along: Vec,
  lengthM: number,
  roomM: number,
  stepM = STEP_M,
): { m: number; qRad: number[] } {
  const { arm, lead } = reacher;
  const { frames } = pose(arm, fromRad);
  const [start, r] = [frames[lead]!.p, frames[arm.joints]!.r];
  const steps = Math.max(1, Math.ceil(lengthM / stepM));
  let [m, qRad] = [0, [...fromRad]];
  for (let n = 1; n <= steps; n++) {
    const next = (n / steps) * lengthM;
    const q = solve(reacher, { r, p: add(start, along, next) }, qRad);
    if (q === null || reacher.room(q) < roomM) break;
    if (q.some((value, i) => Math.abs(value - qRad[i]!) > MOST_JUMP_RAD)) break;
    [m, qRad] = [next, q];
  }
  return { m, qRad };
}
