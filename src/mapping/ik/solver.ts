import { TeleopError } from '../../core/errors.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { createAnalyticSolver } from './analytic.ts';
import type { ClosedSolver, NumericSolver, Solver, SolverOptions } from './contract.ts';
import { createDecoupledSolver } from './decoupled.ts';
import { SerialDecoupledSolver } from './decoupled-serial.ts';
import { createNumericSolver } from './numeric.ts';

export const METHODS = ['decoupled', 'analytic', 'numeric'] as const;
export type Method = (typeof METHODS)[number];

/** Solver methods of a model, best first. */
export function methodsOf(model: RobotModel): readonly Method[] {
  if (model.family === 'ur') return METHODS;
  if (model.family === 'hand') return [];
  if (model.family === 'piper') return ['analytic', 'numeric'];
  return model.joints.length >= 6 ? ['numeric', 'decoupled'] : ['numeric'];
}

/** Whether a method's solver can list all solutions. */
export const isClosed = (model: RobotModel, method: Method): boolean =>
  method === 'analytic' || (method === 'decoupled' && model.family === 'ur');

export function createSolver(model: RobotModel, method: 'analytic', options?: SolverOptions): ClosedSolver;
export function createSolver(model: RobotModel, method: 'numeric', options?: SolverOptions): NumericSolver;
export function createSolver(model: RobotModel, method: Method, options?: SolverOptions): Solver;
export function createSolver(model: RobotModel, method: Method, options: SolverOptions = {}): Solver {
  const known = methodsOf(model);
  if (!known.includes(method))
    throw new TeleopError('bad-model', `${model.name} has no ${method} solver`, {
      hint:
        known.length === 0
          ? 'A hand needs no solver: it is retargeted joint by joint.'
          : `Use ${known.join(' or ')}; a closed form needs family ur or piper.`,
    });
  if (method === 'decoupled')
    return model.family === 'ur' ? createDecoupledSolver(model, options) : new SerialDecoupledSolver(model);
  return method === 'analytic' ? createAnalyticSolver(model, options) : createNumericSolver(model, options);
}
