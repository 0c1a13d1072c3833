import { quatFromMatrix } from './frames.ts';
import type { JointModel, RobotModel } from './robot-model.ts';

/** Forward kinematics of a serial arm. Hot path: nothing allocates; one caller at a time. */
export interface Chain {
  readonly joints: number;
  /** Pose of frame `link` (0 = base … joints = flange) in the base frame. */
  frame(qRad: ArrayLike<number>, link: number, positionM: Float64Array, quatXyzw: Float64Array): void;
  /** Origins of all frames, base first: `joints + 1` points x, y, z in the base frame. */
  linkOrigins(qRad: ArrayLike<number>, outM: Float64Array): void;
  /** All frames in the base frame, base first: `joints + 1` times 3×4 row-major [R | p]. */
  frames(qRad: ArrayLike<number>, out: Float64Array): void;
  /** The same frames, and for each joint its axis and a point on it: six numbers, x, y, z of each. */
  framesAndAxes(qRad: ArrayLike<number>, frames: Float64Array, axes: Float64Array): void;
  /**
   * Geometric Jacobian of the flange in the base frame, 6 × joints row-major: linear rows, then angular ones.
   * Also fills `flange`, 3×4 row-major.
   */
  jacobian(qRad: ArrayLike<number>, out: Float64Array, flange: Float64Array): void;
}

/** Numbers in a 3×4 row-major transform. */
export const TRANSFORM_SIZE = 12;
const IDENTITY: readonly number[] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];

/**
 * Every convention reduces to T ← T · before · Rz(q) · after with constant `before` and `after`; `after` of
 * one joint and `before` of the next are merged into one product.
 */
export function createChain(model: RobotModel): Chain {
  const joints = model.joints.length;
  const parts = model.joints.map(partsOf);
  const before = parts.map((part) => part.before);
  const after = parts.map((part) => part.after);
  after[joints - 1] = product(after[joints - 1]!, placed(model.tool.xyzM, model.tool.rpyRad));
  /** From the rotating frame of joint i − 1 to that of joint i. */
  const between = before.map((own, i) => (i === 0 ? own : product(after[i - 1]!, own)));
  const running = new Float64Array(TRANSFORM_SIZE);
  const frame = new Float64Array(TRANSFORM_SIZE);
  const axes = new Float64Array(joints * 6);
  const rotation = new Float64Array(9);

  const at = (qRad: ArrayLike<number>, link: number): Float64Array => {
    running.set(IDENTITY);
    for (let i = 0; i < link; i++) turn(running, between[i]!, qRad, i);
    if (link > 0) multiplyTransforms(running, after[link - 1]!, frame, 0);
    else frame.set(IDENTITY);
    return frame;
  };
  return {
    joints,
    frame(qRad, link, positionM, quatXyzw) {
      const t = at(qRad, link);
      for (let row = 0; row < 3; row++) {
        rotation[row * 3] = t[row * 4]!;
        rotation[row * 3 + 1] = t[row * 4 + 1]!;
        rotation[row * 3 + 2] = t[row * 4 + 2]!;
        positionM[row] = t[row * 4 + 3]!;
      }
      quatFromMatrix(rotation, quatXyzw);
    },
    linkOrigins(qRad, outM) {
      running.set(IDENTITY);
      outM[0] = outM[1] = outM[2] = 0;
      for (let i = 0; i < joints; i++) {
        turn(running, between[i]!, qRad, i);
        multiplyTransforms(running, after[i]!, frame, 0);
        for (let row = 0; row < 3; row++) outM[3 * (i + 1) + row] = frame[row * 4 + 3]!;
      }
    },
    frames(qRad, out) {
      running.set(IDENTITY);
      out.set(IDENTITY);
      for (let i = 0; i < joints; i++) {
        turn(running, between[i]!, qRad, i);
        multiplyTransforms(running, after[i]!, out, TRANSFORM_SIZE * (i + 1));
      }
    },
    framesAndAxes(qRad, out, outAxes) {
      running.set(IDENTITY);
      out.set(IDENTITY);
      for (let i = 0; i < joints; i++) {
        turn(running, between[i]!, qRad, i);
        copyAxis(running, outAxes, i * 6);
        multiplyTransforms(running, after[i]!, out, TRANSFORM_SIZE * (i + 1));
      }
    },
    jacobian(qRad, out, flange) {
      running.set(IDENTITY);
      for (let i = 0; i < joints; i++) {
        turn(running, between[i]!, qRad, i);
        copyAxis(running, axes, i * 6);
      }
      multiplyTransforms(running, after[joints - 1]!, flange, 0);
      fillJacobian(axes, flange, out);
    },
  };
}

/** The z axis and the origin of a transform. */
function copyAxis(t: Float64Array, axes: Float64Array, at: number): void {
  for (let row = 0; row < 3; row++) {
    axes[at + row] = t[row * 4 + 2]!;
    axes[at + 3 + row] = t[row * 4 + 3]!;
  }
}

/** Computes the columns from each joint's axis and a point on it, six numbers each. */
function fillJacobian(axes: Float64Array, flange: Float64Array, out: Float64Array): void {
  const joints = axes.length / 6;
  for (let i = 0; i < joints; i++) {
    const zx = axes[i * 6]!;
    const zy = axes[i * 6 + 1]!;
    const zz = axes[i * 6 + 2]!;
    const rx = flange[3]! - axes[i * 6 + 3]!;
    const ry = flange[7]! - axes[i * 6 + 4]!;
    const rz = flange[11]! - axes[i * 6 + 5]!;
    out[i] = zy * rz - zz * ry;
    out[joints + i] = zz * rx - zx * rz;
    out[2 * joints + i] = zx * ry - zy * rx;
    out[3 * joints + i] = zx;
    out[4 * joints + i] = zy;
    out[5 * joints + i] = zz;
  }
}

/**
 * T ← T · constant · Rz(qRad[joint]), in place. The angle stays in its array: V8 boxes a float passed to a
 * call.
 */
function turn(t: Float64Array, constant: Float64Array, qRad: ArrayLike<number>, joint: number): void {
  const cos = Math.cos(qRad[joint]!);
  const sin = Math.sin(qRad[joint]!);
  for (let row = 0; row < 12; row += 4) {
    const a = t[row]!;
    const b = t[row + 1]!;
    const c = t[row + 2]!;
    const x = a * constant[0]! + b * constant[4]! + c * constant[8]!;
    const y = a * constant[1]! + b * constant[5]! + c * constant[9]!;
    t[row + 2] = a * constant[2]! + b * constant[6]! + c * constant[10]!;
    t[row + 3]! += a * constant[3]! + b * constant[7]! + c * constant[11]!;
    t[row] = x * cos + y * sin;
    t[row + 1] = y * cos - x * sin;
  }
}

/** `out` at `offset` ← a · b */
export function multiplyTransforms(
  a: Float64Array,
  b: Float64Array,
  out: Float64Array,
  offset: number,
): void {
  for (let row = 0; row < 12; row += 4)
    for (let column = 0; column < 4; column++)
      out[offset + row + column] =
        a[row]! * b[column]! +
        a[row + 1]! * b[column + 4]! +
        a[row + 2]! * b[column + 8]! +
        (column === 3 ? a[row + 3]! : 0);
}

/** Allocates. */
export function product(...factors: readonly Float64Array[]): Float64Array {
  return factors.reduce((left, right) => {
    const out = new Float64Array(TRANSFORM_SIZE);
    multiplyTransforms(left, right, out, 0);
    return out;
  });
}

/** A joint as constants: its frame in the previous one is before · Rz(q) · after, 3×4 row-major each. */
export function partsOf({ dh, modifiedDh, origin, axis }: JointModel): {
  before: Float64Array;
  after: Float64Array;
} {
  if (dh !== undefined)
    return {
      before: placed([0, 0, 0], [0, 0, dh.thetaRad]),
      after: placed([dh.aM, 0, dh.dM], [dh.alphaRad, 0, 0]),
    };
  if (modifiedDh !== undefined) {
    const { aM, dM, alphaRad, thetaRad } = modifiedDh;
    const before = product(placed([aM, 0, 0], [alphaRad, 0, 0]), placed([0, 0, 0], [0, 0, thetaRad]));
    return { before, after: placed([0, 0, dM], [0, 0, 0]) };
  }
  const own = placed(origin!.xyzM, origin!.rpyRad);
  const aligned = rotationTo(axis ?? [0, 0, 1]);
  return { before: product(own, aligned), after: transposed(aligned) };
}

/** 3×4 row-major. */
export const placementMatrix = ({ xyzM, rpyRad }: RobotModel['tool']): Float64Array => placed(xyzM, rpyRad);

function placed(
  xyzM: readonly number[],
  [roll, pitch, yaw]: readonly [number, number, number],
): Float64Array {
  const [cr, sr, cp, sp, cy, sy] = [roll, pitch, yaw].flatMap((angle) => [
    Math.cos(angle),
    Math.sin(angle),
  ]) as [number, number, number, number, number, number];
  return Float64Array.of(
    cy * cp,
    cy * sp * sr - sy * cr,
    cy * sp * cr + sy * sr,
    xyzM[0]!,
    sy * cp,
    sy * sp * sr + cy * cr,
    sy * sp * cr - cy * sr,
    xyzM[1]!,
    -sp,
    cp * sr,
    cp * cr,
    xyzM[2]!,
  );
}

/** A rotation that takes z to the direction of `axis`. */
function rotationTo(axis: readonly number[]): Float64Array {
  const length = Math.hypot(...axis);
  const [x, y, z] = axis.map((value) => value / length) as [number, number, number];
  if (z < -1 + 1e-12) return Float64Array.of(1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0);
  const k = 1 / (1 + z);
  return Float64Array.of(1 - k * x * x, -k * x * y, x, 0, -k * x * y, 1 - k * y * y, y, 0, -x, -y, z, 0);
}

function transposed(r: Float64Array): Float64Array {
  return Float64Array.of(r[0]!, r[4]!, r[8]!, 0, r[1]!, r[5]!, r[9]!, 0, r[2]!, r[6]!, r[10]!, 0);
}
