import { createChain, TRANSFORM_SIZE } from '../../geometry/chain.ts';
import { spreadPose } from '../../geometry/pairings.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';

const SAMPLES = 256;
const SLOPES = 128;
const STEP_RAD = 1e-4;
const BETWEEN = 1.5;

/**
 * How freely the flange can move in a pose, from 0 in a singularity to about 1 in this arm's best pose: the
 * volume of flange velocities spanned by unit joint velocities, relative to the largest over a set of poses.
 * Hot path: nothing allocates.
 */
export function createManipulability(model: RobotModel): (qRad: ArrayLike<number>) => number {
  const chain = createChain(model);
  const jacobian = new Float64Array(6 * chain.joints);
  const flange = new Float64Array(TRANSFORM_SIZE);
  const size = Math.min(6, chain.joints);
  const gram = new Float64Array(size * size);
  const volume = (qRad: ArrayLike<number>): number => {
    chain.jacobian(qRad, jacobian, flange);
    if (chain.joints >= 6) gramOfRows(jacobian, chain.joints, gram);
    else gramOfColumns(jacobian, chain.joints, gram);
    return Math.sqrt(determinant(gram, size));
  };
  let best = 0;
  for (let n = 1; n <= SAMPLES; n++) best = Math.max(best, volume(spreadPose(model, n)));
  return (qRad) => (best > 0 ? volume(qRad) / best : 1);
}

/**
 * The same, but computed again only once the joints have turned far enough that it might be below `margin`: above that,
 * it may be out of date. Hot path: nothing allocates.
 */
export function watchManipulability(model: RobotModel, margin: number): (qRad: ArrayLike<number>) => number {
  const of = createManipulability(model);
  const perRad = steepest(model, of);
  const atRad = new Float64Array(model.joints.length);
  let last = Number.NEGATIVE_INFINITY;
  return (qRad) => {
    let turnRad = 0;
    for (let i = 0; i < atRad.length; i++) turnRad += Math.abs(qRad[i]! - atRad[i]!);
    if (last - perRad * turnRad >= margin) return last;
    for (let i = 0; i < atRad.length; i++) atRad[i] = qRad[i]!;
    last = of(qRad);
    return last;
  };
}

/** How much it changes at most per radian of a joint, by a set of poses and a factor for the poses between them. */
function steepest(model: RobotModel, of: (qRad: ArrayLike<number>) => number): number {
  let most = 0;
  for (let n = 1; n <= SLOPES; n++) {
    const q = spreadPose(model, n);
    const here = of(q);
    for (let i = 0; i < q.length; i++)
      most = Math.max(most, Math.abs(of(q.with(i, q[i]! + STEP_RAD)) - here) / STEP_RAD);
  }
  return BETWEEN * most;
}

/** J Jᵀ, 6 × 6, lower triangle only. */
function gramOfRows(jacobian: Float64Array, joints: number, out: Float64Array): void {
  for (let row = 0; row < 6; row++)
    for (let column = 0; column <= row; column++) {
      let sum = 0;
      for (let i = 0; i < joints; i++) sum += jacobian[row * joints + i]! * jacobian[column * joints + i]!;
      out[row * 6 + column] = sum;
    }
}

/** Jᵀ J of an arm with fewer than six joints. */
function gramOfColumns(jacobian: Float64Array, joints: number, out: Float64Array): void {
  for (let row = 0; row < joints; row++)
    for (let column = 0; column <= row; column++) {
      let sum = 0;
      for (let i = 0; i < 6; i++) sum += jacobian[i * joints + row]! * jacobian[i * joints + column]!;
      out[row * joints + column] = sum;
    }
}

/** Determinant of a positive semidefinite matrix, by Cholesky in place; 0 if it does not have full rank. */
function determinant(matrix: Float64Array, size: number): number {
  let product = 1;
  for (let row = 0; row < size; row++)
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row * size + column]!;
      for (let i = 0; i < column; i++) sum -= matrix[row * size + i]! * matrix[column * size + i]!;
      if (row !== column) matrix[row * size + column] = sum / matrix[column * size + column]!;
      else if (!(sum > 0)) return 0;
      else {
        product *= sum;
        matrix[row * size + row] = Math.sqrt(sum);
      }
    }
  return product;
}
