import { createBoundedTurn, NEAR_WRIST, SINGULAR } from './singular.ts';

/** Three joints whose axes meet, the middle one perpendicular to both. Hot path: nothing allocates. */
export interface Wrist {
  /** The target rotation, 3×3 row-major; fill before `solve`, which ignores the first two of the last row. */
  readonly matrix: Float64Array;
  /**
   * First, middle and last angle; adding π to the outer ones and negating the middle one gives the other
   * solution.
   */
  readonly anglesRad: Float64Array;
  /**
   * matrix = Rz(first) Ry(side · middle) Rz(last). When straight, the first joint stays at `seedRad[at]` and
   * the last one takes the rest. False if the step near straight was limited.
   */
  solve(seedRad: Float64Array, at: number): boolean;
}

export function createWrist(side: 1 | -1, singularStepRad: number): Wrist {
  const matrix = new Float64Array(9);
  const roll = createBoundedTurn(NEAR_WRIST, singularStepRad);
  const anglesRad = new Float64Array(3);
  return {
    matrix,
    anglesRad,
    solve(seedRad, at) {
      const outX = side * matrix[2]!;
      const outY = side * matrix[5]!;
      const sine = Math.sqrt(outX * outX + outY * outY);
      anglesRad[0] = Math.atan2(outY, outX);
      let cos = outX / sine;
      let sin = outY / sine;
      if (sine < NEAR_WRIST) {
        roll.lever[0] = sine;
        roll.apply(anglesRad, 0, seedRad, at);
        cos = Math.cos(anglesRad[0]!);
        sin = Math.sin(anglesRad[0]!);
      }
      anglesRad[1] = Math.atan2(cos * outX + sin * outY, matrix[8]!);
      anglesRad[2] = Math.atan2(cos * matrix[3]! - sin * matrix[0]!, cos * matrix[4]! - sin * matrix[1]!);
      return Math.abs(cos * outY - sin * outX) <= SINGULAR;
    },
  };
}
