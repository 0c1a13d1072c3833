import { neighbourOf } from '../geometry/neighbour.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { ArmSurroundings } from '../mapping/arm-mapper.ts';
import type { Rig } from '../rig/rig.ts';

/** What the rig's robot has around it, and the limits it will keep, so that the mapping stays inside them. */
export function surroundingsOf(
  { joints, workspace }: RobotModel,
  robot: Rig['robot'],
  otherArm: RobotModel | null = null,
): ArmSurroundings {
  const own = (name: string) => robot.jointRanges[name] ?? {};
  return {
    around: {
      groundZM: robot.groundZM,
      obstacles: robot.obstacles,
      neighbour: neighbourOf(robot.pair, otherArm),
      stopM: robot.stopM,
      workspace: robot.workspace ?? workspace ?? null,
    },
    minRad: joints.map(({ name, minRad }) => Math.max(minRad, own(name).minRad ?? minRad)),
    maxRad: joints.map(({ name, maxRad }) => Math.min(maxRad, own(name).maxRad ?? maxRad)),
    velocityRadS: joints.map(({ maxVelocityRadS }) => (maxVelocityRadS * robot.speedPercent) / 100),
    accelerationRadS2: joints.map(
      ({ maxAccelerationRadS2 }) => (maxAccelerationRadS2 * robot.accelerationPercent) / 100,
    ),
  };
}
