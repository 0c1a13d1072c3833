import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';

const HALF = Math.PI / 2;
const big = { minRad: -6.28, maxRad: 6.28, maxVelocityRadS: 3.14, maxAccelerationRadS2: 12 };
const small = { ...big, maxVelocityRadS: 6.28, maxAccelerationRadS2: 20 };
const capsule = (name: string, frame: number, fromM: number[], toM: number[], radiusM: number) => ({
  name,
  frame,
  fromM,
  toM,
  radiusM,
});

/** An arm with the size and shape of a UR3 and a gripper, in coarse capsules. */
export const sixJoints: RobotModel = robotModelSchema.parse({
  name: 'six',
  title: 'six joints',
  family: 'ur',
  homeRad: [Math.PI, -HALF, HALF, -HALF, -HALF, 0],
  joints: [
    { name: 'pan', ...big, dh: { aM: 0, dM: 0.1519, alphaRad: HALF } },
    { name: 'lift', ...big, dh: { aM: -0.24365, dM: 0, alphaRad: 0 } },
    { name: 'elbow', ...big, minRad: -3.14, maxRad: 3.14, dh: { aM: -0.21325, dM: 0, alphaRad: 0 } },
    { name: 'wrist 1', ...small, dh: { aM: 0, dM: 0.11235, alphaRad: HALF } },
    { name: 'wrist 2', ...small, dh: { aM: 0, dM: 0.08535, alphaRad: -HALF } },
    { name: 'wrist 3', ...small, dh: { aM: 0, dM: 0.0819, alphaRad: 0 } },
  ],
  capsules: [
    capsule('base', 0, [0, 0, 0.05], [0, 0, 0.1], 0.065),
    capsule('shoulder', 1, [0, 0, 0], [0, 0, 0.06], 0.06),
    capsule('upper arm', 2, [0.24365, 0, 0.12], [0, 0, 0.12], 0.05),
    capsule('forearm', 3, [0.21325, 0, 0.03], [0, 0, 0.03], 0.045),
    capsule('wrist', 4, [0, 0, 0], [0, 0.02, 0], 0.045),
    capsule('hand', 5, [0, 0, 0], [0, 0, 0], 0.045),
    capsule('gripper', 6, [0, 0, -0.02], [0, 0, 0.1], 0.04),
  ],
  mayTouch: [
    ['upper arm', 'base'],
    ['wrist', 'gripper'],
    ['hand', 'forearm'],
  ],
});
