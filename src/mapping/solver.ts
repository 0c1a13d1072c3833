import { TeleopError } from '../core/errors.ts';
import type { RobotModel } from '../core/robot-model.ts';
import { createDecoupledSolver } from './ik/decoupled.ts';

export const IK_METHODS = ['decoupled', 'analytic', 'numeric'] as const;
export type IkMethod = (typeof IK_METHODS)[number];

/**
 * `clamped`: the nearest the arm can do, not the target itself. `unreachable`: nothing near enough; the arm must stay
 * where it is.
 */
export type SolveStatus = 'ok' | 'clamped' | 'unreachable' | 'bad-input';

/** Joint angles for a pose. Hot path: nothing allocates; one caller at a time. */
export interface PoseSolver {
  /** Base frame; the quaternion may have any length. `outRad` counts only on `ok` and `clamped`. */
  solve(
    positionM: Float64Array,
    quatXyzw: Float64Array,
    seedRad: Float64Array,
    outRad: Float64Array,
  ): SolveStatus;
}

const FAMILY_METHOD: Record<RobotModel['family'], IkMethod> = {
  ur: 'decoupled',
  piper: 'analytic',
  serial: 'numeric',
  hand: 'numeric',
};

export const methodFor = (model: RobotModel, wanted: IkMethod | undefined): IkMethod =>
  wanted ?? FAMILY_METHOD[model.family];

/** Frame whose position the method leads: link 3 where the arm is taken as two, else the flange. */
export const leadFrame = (model: RobotModel, method: IkMethod): number =>
  method === 'decoupled' ? 3 : model.joints.length;

/** Near a singularity, 3 rad/s at 100 Hz. */
const SINGULAR_STEP_RAD = 0.03;

/** The one place where methods and solvers meet. */
export function solverFor(model: RobotModel, method: IkMethod): PoseSolver {
  if (method === 'decoupled') return createDecoupledSolver(model, { singularStepRad: SINGULAR_STEP_RAD });
  throw new TeleopError('bad-config', `there is no ${method} solver for ${model.name}`, {
    hint: 'Set operator.mapper.ik to a method that this arm has.',
  });
}
