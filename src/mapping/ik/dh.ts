import type { RobotModel } from '../../core/robot-model.ts';
import { quatFromMatrix } from '../frames.ts';

/** Forward kinematics of a serial arm. Hot path: nothing allocates; one caller at a time. */
export interface Chain {
  readonly joints: number;
  /** Pose of link frame `link` (0 = base … joints = flange) in the base frame. */
  frame(qRad: ArrayLike<number>, link: number, positionM: Float64Array, quatXyzw: Float64Array): void;
  /** Origins of all link frames, base first: `joints + 1` points x, y, z in the base frame. */
  linkOrigins(qRad: ArrayLike<number>, outM: Float64Array): void;
}

export function createChain(model: RobotModel): Chain {
  const joints = model.joints.length;
  const constants = new Float64Array(joints * 4);
  model.joints.forEach(({ dh }, i) => {
    constants.set([dh.aM, dh.dM, Math.cos(dh.alphaRad), Math.sin(dh.alphaRad)], i * 4);
  });
  const rotation = new Float64Array(9);
  const originM = new Float64Array(3);
  return {
    joints,
    frame(qRad, link, positionM, quatXyzw) {
      rotation.set(IDENTITY);
      originM.fill(0);
      for (let i = 0; i < link; i++) advance(rotation, originM, constants, i, qRad[i]!);
      positionM.set(originM);
      quatFromMatrix(rotation, quatXyzw);
    },
    linkOrigins(qRad, outM) {
      rotation.set(IDENTITY);
      originM.fill(0);
      outM.set(originM);
      for (let i = 0; i < joints; i++) {
        advance(rotation, originM, constants, i, qRad[i]!);
        outM.set(originM, 3 * (i + 1));
      }
    },
  };
}

const IDENTITY = new Float64Array([1, 0, 0, 0, 1, 0, 0, 0, 1]);

/** T ← T · Rz(θ) Tz(d) Tx(a) Rx(α) */
function advance(
  rotation: Float64Array,
  originM: Float64Array,
  constants: Float64Array,
  joint: number,
  thetaRad: number,
): void {
  const cosTheta = Math.cos(thetaRad);
  const sinTheta = Math.sin(thetaRad);
  const aM = constants[joint * 4]!;
  const dM = constants[joint * 4 + 1]!;
  const cosAlpha = constants[joint * 4 + 2]!;
  const sinAlpha = constants[joint * 4 + 3]!;
  for (let row = 0; row < 3; row++) {
    const at = row * 3;
    const z = rotation[at + 2]!;
    const x = rotation[at]! * cosTheta + rotation[at + 1]! * sinTheta;
    const y = rotation[at + 1]! * cosTheta - rotation[at]! * sinTheta;
    originM[row]! += aM * x + dM * z;
    rotation[at] = x;
    rotation[at + 1] = y * cosAlpha + z * sinAlpha;
    rotation[at + 2] = z * cosAlpha - y * sinAlpha;
  }
}
