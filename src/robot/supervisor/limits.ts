import { TeleopError } from '../../core/errors.ts';
import type { Box, RobotModel } from '../../geometry/robot-model.ts';
import { createClearanceField } from './collision.ts';
import type { SupervisorConfig } from './supervisor-config.ts';

/** Limits of each joint: the model's ceilings, lowered by the rig. */
export interface JointLimits {
  readonly minRad: Float64Array;
  readonly maxRad: Float64Array;
  readonly velocityRadS: Float64Array;
  readonly accelerationRadS2: Float64Array;
  readonly jerkRadS3: Float64Array;
}

const bad = (message: string, hint: string) => new TeleopError('bad-config', message, { hint });

export function jointLimits(model: RobotModel, config: SupervisorConfig): JointLimits {
  const { joints } = model;
  const names = joints.map(({ name }) => name);
  for (const name of Object.keys(config.jointRanges))
    if (!names.includes(name))
      throw bad(`robot.jointRanges: ${model.name} has no joint "${name}"`, `Joints: ${names.join(', ')}.`);
  const own = (name: string) => config.jointRanges[name] ?? {};
  const limits: JointLimits = {
    minRad: Float64Array.from(joints, ({ name, minRad }) => Math.max(minRad, own(name).minRad ?? minRad)),
    maxRad: Float64Array.from(joints, ({ name, maxRad }) => Math.min(maxRad, own(name).maxRad ?? maxRad)),
    velocityRadS: share(joints, 'maxVelocityRadS', config.speedPercent),
    accelerationRadS2: share(joints, 'maxAccelerationRadS2', config.accelerationPercent),
    jerkRadS3: share(joints, 'maxJerkRadS3', config.jerkPercent),
  };
  names.forEach((name, i) => {
    if (!(limits.minRad[i]! < limits.maxRad[i]!))
      throw bad(
        `robot.jointRanges leaves no room for joint "${name}"`,
        'Set minRad below maxRad, and both inside the model’s range.',
      );
  });
  return limits;
}

type Ceiling = 'maxVelocityRadS' | 'maxAccelerationRadS2' | 'maxJerkRadS3';

const share = (joints: RobotModel['joints'], ceiling: Ceiling, percent: number): Float64Array =>
  Float64Array.from(joints, (joint) => (joint[ceiling] * Math.min(100, percent)) / 100);

/** The box the flange must stay in: the intersection of the model's and the rig's. */
export function workspaceOf(model: RobotModel, config: SupervisorConfig): Box | null {
  const [given, own] = [model.workspace, config.workspace];
  if (given === undefined || own === undefined) return given ?? own ?? null;
  const pick = (side: 'minM' | 'maxM', choose: (a: number, b: number) => number) =>
    given[side].map((value, i) => choose(value, own[side][i]!)) as [number, number, number];
  const box = { minM: pick('minM', Math.max), maxM: pick('maxM', Math.min) };
  if (box.minM.some((low, i) => low >= box.maxM[i]!))
    throw bad(
      'robot.workspace does not overlap the model’s workspace',
      'Set a box that overlaps the model’s.',
    );
  return box;
}

/** An arm at home must not be inside its table or an obstacle: nothing could be kept clear of them from there. */
export function expectClearHome(model: RobotModel, { groundZM, obstacles }: SupervisorConfig): void {
  const field = createClearanceField(model, { groundZM, obstacles, workspace: null });
  const clearancesM = new Float64Array(field.size);
  field.measure(model.homeRad, clearancesM);
  for (let k = 0; k < field.size; k++)
    if (clearancesM[k]! < 0 && field.restM[k] === Number.POSITIVE_INFINITY)
      throw bad(
        `${model.name}: in the home pose, ${field.names[k]} overlap by ${(-1e3 * clearancesM[k]!).toFixed(0)} mm`,
        'Correct robot.groundZM or robot.obstacles, which are in the frame of the arm’s base, or the model’s homeRad.',
      );
}
