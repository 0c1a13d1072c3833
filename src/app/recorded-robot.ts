import type { RobotModel } from '../geometry/robot-model.ts';
import type { RecordedArm } from '../operator/two-arm-rows.ts';
import type { RecorderParts } from '../record/recorder.ts';
import type { Side } from '../rig/arms-config.ts';

export type RecordedRobot = Pick<RecorderParts, 'robot' | 'joints' | 'hasGripper' | 'jointLimits' | 'model'>;

interface Arm {
  side: Side | null;
  model: RobotModel;
}

/** A gripper has a range, but no speed that it must not exceed. */
const GRIPPER = { name: 'gripper', minRad: 0, maxRad: 1, maxVelocityRadS: 1e3 };

export const recordedArm = ({ model }: { model: RobotModel }): RecordedArm => ({
  joints: model.joints.length,
  hasGripper: model.gripper && model.family !== 'hand',
});

/** The robot as recordings describe it: two arms are one robot whose joints are named by side. */
export function recordedRobot(arms: readonly Arm[]): RecordedRobot {
  const [{ model, side }] = arms as [Arm];
  if (side === null) {
    const { hasGripper } = recordedArm({ model });
    return { robot: model.name, hasGripper, model, ...namesAndLimits('', model.joints) };
  }
  const joints = arms.map((arm) =>
    namesAndLimits(`${arm.side}_`, [...arm.model.joints, ...(recordedArm(arm).hasGripper ? [GRIPPER] : [])]),
  );
  const limit = (of: 'minRad' | 'maxRad' | 'maxVelocityRadS') =>
    joints.flatMap(({ jointLimits }) => jointLimits[of]);
  const models = [...new Set(arms.map((arm) => arm.model.name))];
  return {
    robot: models.length === 1 ? `two ${models[0]}` : models.join(' + '),
    joints: joints.flatMap((arm) => arm.joints),
    hasGripper: false,
    jointLimits: {
      minRad: limit('minRad'),
      maxRad: limit('maxRad'),
      maxVelocityRadS: limit('maxVelocityRadS'),
    },
  };
}

function namesAndLimits(
  prefix: string,
  joints: readonly Pick<RobotModel['joints'][number], 'name' | 'minRad' | 'maxRad' | 'maxVelocityRadS'>[],
) {
  return {
    joints: joints.map(({ name }) => `${prefix}${name}`),
    jointLimits: {
      minRad: joints.map(({ minRad }) => minRad),
      maxRad: joints.map(({ maxRad }) => maxRad),
      maxVelocityRadS: joints.map(({ maxVelocityRadS }) => maxVelocityRadS),
    },
  };
}
