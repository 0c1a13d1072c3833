import { placementMatrix } from '../../geometry/chain.ts';
import { matrixFromQuat, quatNormalise } from '../../geometry/frames.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

/** More distant targets are first pulled in along their ray, so that squares stay finite. */
export const FAR_M = 1e3;

/** The pose of the last joint's frame that puts the flange at a given pose. Hot path: nothing allocates. */
export interface Target {
  /** Fills only the matrix; false on input that is not finite. */
  turn(positionM: Float64Array, quatXyzw: Float64Array): boolean;
  /** Fills matrix and position; false on input that is not finite. */
  place(positionM: Float64Array, quatXyzw: Float64Array): boolean;
}

export function createTarget(
  model: RobotModel,
  matrix: Float64Array,
  placeM: Float64Array = new Float64Array(3),
): Target {
  const tool = placementMatrix(model.tool);
  const isTurned = model.tool.rpyRad.some((angle) => angle !== 0);
  const isMoved = model.tool.xyzM.some((value) => value !== 0);
  const unitQuat = new Float64Array(4);
  const turn = (positionM: Float64Array, quatXyzw: Float64Array): boolean => {
    if (!isFinite3(positionM) || !quatNormalise(quatXyzw, unitQuat)) return false;
    matrixFromQuat(unitQuat, matrix);
    if (isTurned) unturn(matrix, tool);
    return true;
  };
  return {
    turn,
    place(positionM, quatXyzw) {
      if (!turn(positionM, quatXyzw)) return false;
      const farM = Math.max(Math.abs(positionM[0]!), Math.abs(positionM[1]!), Math.abs(positionM[2]!));
      const scale = farM > FAR_M ? FAR_M / farM : 1;
      for (let i = 0; i < 3; i++) placeM[i] = positionM[i]! * scale;
      if (isMoved)
        for (let i = 0; i < 3; i++)
          placeM[i]! -=
            matrix[3 * i]! * tool[3]! + matrix[3 * i + 1]! * tool[7]! + matrix[3 * i + 2]! * tool[11]!;
      return true;
    },
  };
}

/** m ← m · Rᵀ for the rotation of a 3×4 transform. */
function unturn(m: Float64Array, t: Float64Array): void {
  for (let row = 0; row < 9; row += 3) {
    const a = m[row]!;
    const b = m[row + 1]!;
    const c = m[row + 2]!;
    for (let column = 0; column < 3; column++)
      m[row + column] = a * t[column * 4]! + b * t[column * 4 + 1]! + c * t[column * 4 + 2]!;
  }
}

const isFinite3 = (values: Float64Array): boolean =>
  Number.isFinite(values[0]) && Number.isFinite(values[1]) && Number.isFinite(values[2]);

export function isFiniteSeed(seedRad: Float64Array, joints: number): boolean {
  for (let i = 0; i < joints; i++) if (!Number.isFinite(seedRad[i])) return false;
  return true;
}
