/** One damped least-squares step for six task rows. Hot path: nothing allocates. */
export interface LeastSquares {
  /** Added to the diagonal; set before `solve`. */
  readonly damping: Float64Array;
  readonly stepRad: Float64Array;
  /** Preferred joint motion in the null space of the task; zero unless set before `solve`. */
  readonly desiredRad: Float64Array;
  /**
   * The step from `qRad` that removes `error`, the smallest one for a redundant arm. A joint that would
   * exceed its limit is put there, and the others compensate. Overwrites `error`.
   */
  solve(
    jacobian: Float64Array,
    error: Float64Array,
    qRad: Float64Array,
    minRad: Float64Array,
    maxRad: Float64Array,
  ): void;
}

const ROWS = 6;

export function createLeastSquares(joints: number): LeastSquares {
  const damping = new Float64Array(1);
  const stepRad = new Float64Array(joints);
  const desiredRad = new Float64Array(joints);
  const free = new Uint8Array(joints);
  const lower = new Float64Array(ROWS * ROWS);
  const y = new Float64Array(ROWS);
  return {
    damping,
    stepRad,
    desiredRad,
    solve(jacobian, error, qRad, minRad, maxRad) {
      free.fill(1);
      for (let j = 0; j < joints; j++)
        for (let i = 0; i < ROWS; i++) error[i]! -= jacobian[i * joints + j]! * desiredRad[j]!;
      for (let round = 0; round <= joints; round++) {
        normal(jacobian, joints, free, damping, lower);
        factor(lower);
        substitute(lower, error, y);
        let locked = false;
        for (let j = 0; j < joints; j++) {
          if (free[j] === 0) continue;
          let step = desiredRad[j]!;
          for (let i = 0; i < ROWS; i++) step += jacobian[i * joints + j]! * y[i]!;
          const low = minRad[j]! - qRad[j]!;
          const high = maxRad[j]! - qRad[j]!;
          stepRad[j] = Math.min(Math.max(step, low), high);
          if (stepRad[j] === step) continue;
          free[j] = 0;
          locked = true;
          for (let i = 0; i < ROWS; i++)
            error[i]! -= jacobian[i * joints + j]! * (stepRad[j]! - desiredRad[j]!);
        }
        if (!locked) return;
      }
    },
  };
}

/** J Jᵀ + damping over the free joints, lower triangle. */
function normal(
  jacobian: Float64Array,
  joints: number,
  free: Uint8Array,
  damping: Float64Array,
  out: Float64Array,
): void {
  for (let row = 0; row < ROWS; row++)
    for (let column = 0; column <= row; column++) {
      let sum = row === column ? damping[0]! + 1e-15 : 0;
      for (let j = 0; j < joints; j++)
        if (free[j] === 1) sum += jacobian[row * joints + j]! * jacobian[column * joints + j]!;
      out[row * ROWS + column] = sum;
    }
}

/** Cholesky, in place; the diagonal holds reciprocals. */
function factor(l: Float64Array): void {
  for (let column = 0; column < ROWS; column++) {
    let pivot = l[column * ROWS + column]!;
    for (let k = 0; k < column; k++) pivot -= l[column * ROWS + k]! * l[column * ROWS + k]!;
    const reciprocal = 1 / Math.sqrt(Math.max(pivot, 1e-15));
    l[column * ROWS + column] = reciprocal;
    for (let row = column + 1; row < ROWS; row++) {
      let sum = l[row * ROWS + column]!;
      for (let k = 0; k < column; k++) sum -= l[row * ROWS + k]! * l[column * ROWS + k]!;
      l[row * ROWS + column] = sum * reciprocal;
    }
  }
}

function substitute(l: Float64Array, b: Float64Array, out: Float64Array): void {
  for (let row = 0; row < ROWS; row++) {
    let sum = b[row]!;
    for (let k = 0; k < row; k++) sum -= l[row * ROWS + k]! * out[k]!;
    out[row] = sum * l[row * ROWS + row]!;
  }
  for (let row = ROWS - 1; row >= 0; row--) {
    let sum = out[row]!;
    for (let k = row + 1; k < ROWS; k++) sum -= l[k * ROWS + row]! * out[k]!;
    out[row] = sum * l[row * ROWS + row]!;
  }
}
