import type { JointModel, RobotModel } from '../../src/geometry/robot-model.ts';

/**
 * Forward kinematics of its own, for judging: products of screw motions about the joint axes of the zero pose, where the
 * program multiplies link transforms. Shares only the models' data with it.
 */
export type Vec = readonly number[];
export interface Placed {
  /** 3×3 row-major. */
  r: number[];
  p: number[];
}

interface Screw {
  axis: Vec;
  point: Vec;
}

export interface Arm {
  joints: number;
  screws: Screw[];
  /** Frames 0 (base) to `joints` (flange) in the zero pose. */
  zero: Placed[];
}

export interface ArmState {
  frames: Placed[];
  /** Direction of each joint's axis and a point on it. */
  axes: Screw[];
}

export const IDENTITY: readonly number[] = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const still = (): Placed => ({ r: [...IDENTITY], p: [0, 0, 0] });

export const add = (a: Vec, b: Vec, k = 1): number[] => [
  a[0]! + k * b[0]!,
  a[1]! + k * b[1]!,
  a[2]! + k * b[2]!,
];
export const dot = (a: Vec, b: Vec): number => a[0]! * b[0]! + a[1]! * b[1]! + a[2]! * b[2]!;
export const norm = (a: Vec): number => Math.sqrt(dot(a, a));
export const cross = (a: Vec, b: Vec): number[] => [
  a[1]! * b[2]! - a[2]! * b[1]!,
  a[2]! * b[0]! - a[0]! * b[2]!,
  a[0]! * b[1]! - a[1]! * b[0]!,
];
export const times = (r: Vec, v: Vec): number[] => [
  r[0]! * v[0]! + r[1]! * v[1]! + r[2]! * v[2]!,
  r[3]! * v[0]! + r[4]! * v[1]! + r[5]! * v[2]!,
  r[6]! * v[0]! + r[7]! * v[1]! + r[8]! * v[2]!,
];
export const turned = (r: Vec): number[] => [r[0]!, r[3]!, r[6]!, r[1]!, r[4]!, r[7]!, r[2]!, r[5]!, r[8]!];

export function product(a: Vec, b: Vec): number[] {
  const columns = [0, 1, 2].map((k) => times(a, [b[k]!, b[3 + k]!, b[6 + k]!]));
  return [0, 1, 2].flatMap((row) => columns.map((column) => column[row]!));
}

export const joined = (a: Placed, b: Placed): Placed => ({
  r: product(a.r, b.r),
  p: add(a.p, times(a.r, b.p)),
});

/** Rodrigues' formula. */
export function rotation(axis: Vec, rad: number): number[] {
  const [x, y, z] = axis as [number, number, number];
  const [c, s] = [Math.cos(rad), Math.sin(rad)];
  const k = 1 - c;
  return [
    c + x * x * k,
    x * y * k - z * s,
    x * z * k + y * s,
    y * x * k + z * s,
    c + y * y * k,
    y * z * k - x * s,
    z * x * k - y * s,
    z * y * k + x * s,
    c + z * z * k,
  ];
}

/** Rotation vector of a rotation matrix, for angles below π. */
export function rotationVector(r: Vec): number[] {
  const v = [r[7]! - r[5]!, r[2]! - r[6]!, r[3]! - r[1]!];
  const sine = norm(v) / 2;
  const angle = Math.atan2(sine, (r[0]! + r[4]! + r[8]! - 1) / 2);
  return sine < 1e-12 ? [0, 0, 0] : v.map((value) => (value * angle) / (2 * sine));
}

const about = (axis: Vec, rad: number): Placed => ({ r: rotation(axis, rad), p: [0, 0, 0] });
const moved = (p: Vec): Placed => ({ r: [...IDENTITY], p: [...p] });
const X = [1, 0, 0];
const Y = [0, 1, 0];
const Z = [0, 0, 1];

const rollPitchYaw = ([roll, pitch, yaw]: Vec): Placed =>
  [about(Z, yaw!), about(Y, pitch!), about(X, roll!)].reduce(joined);

/** From the previous frame to the joint's axis, and from there to the joint's own frame in the zero pose. */
function stepsOf({ dh, modifiedDh, origin, axis }: JointModel): { to: Placed; axis: Vec; on: Placed } {
  if (dh !== undefined)
    return {
      to: still(),
      axis: Z,
      on: [about(Z, dh.thetaRad), moved([0, 0, dh.dM]), moved([dh.aM, 0, 0]), about(X, dh.alphaRad)].reduce(
        joined,
      ),
    };
  if (modifiedDh !== undefined)
    return {
      to: joined(about(X, modifiedDh.alphaRad), moved([modifiedDh.aM, 0, 0])),
      axis: Z,
      on: joined(about(Z, modifiedDh.thetaRad), moved([0, 0, modifiedDh.dM])),
    };
  const own = axis ?? Z;
  const to = joined(moved(origin!.xyzM), rollPitchYaw(origin!.rpyRad));
  return { to, axis: own.map((value) => value / norm(own)), on: still() };
}

export function armOf({ joints, tool }: RobotModel): Arm {
  const arm: Arm = { joints: joints.length, screws: [], zero: [still()] };
  joints.forEach((joint, i) => {
    const { to, axis, on } = stepsOf(joint);
    const at = joined(arm.zero[i]!, to);
    arm.screws.push({ axis: times(at.r, axis), point: at.p });
    arm.zero.push(joined(at, on));
  });
  const last = joined(arm.zero.pop()!, joined(moved(tool.xyzM), rollPitchYaw(tool.rpyRad)));
  arm.zero.push(last);
  return arm;
}

export function pose({ screws, zero }: Arm, qRad: ArrayLike<number>): ArmState {
  let moving = still();
  const frames = [zero[0]!];
  const axes: Screw[] = [];
  screws.forEach(({ axis, point }, i) => {
    axes.push({ axis: times(moving.r, axis), point: add(moving.p, times(moving.r, point)) });
    const r = rotation(axis, qRad[i]!);
    moving = joined(moving, { r, p: add(point, times(r, point), -1) });
    frames.push(joined(moving, zero[i + 1]!));
  });
  return { frames, axes };
}
