import type { Capsule, RobotModel } from '../../src/core/robot-model.ts';

const capsule = (
  name: string,
  frame: number,
  fromM: Capsule['fromM'],
  toM: Capsule['toM'],
  radiusM: number,
): Capsule => ({ name, frame, fromM, toM, radiusM });

/** Rough capsules of the right number and size, for a UR3 whose model has none. */
const ROUGH: readonly Capsule[] = [
  capsule('base', 0, [0, 0, 0.05], [0, 0, 0.1], 0.065),
  capsule('shoulder', 1, [0, 0, 0], [0, 0, 0.06], 0.06),
  capsule('upper arm', 2, [0.24365, 0, 0.12], [0, 0, 0.12], 0.05),
  capsule('forearm', 3, [0.21325, 0, 0.03], [0, 0, 0.03], 0.045),
  capsule('wrist', 4, [0, 0, 0], [0, 0.02, 0], 0.045),
  capsule('hand', 5, [0, 0, 0], [0, 0, 0], 0.045),
  capsule('gripper', 6, [0, 0, -0.02], [0, 0, 0.1], 0.04),
];

export const withCapsules = (model: RobotModel): RobotModel =>
  model.capsules.length > 0
    ? model
    : {
        ...model,
        capsules: [...ROUGH],
        mayTouch: [
          ['upper arm', 'base'],
          ['wrist', 'gripper'],
          ['hand', 'forearm'],
        ],
      };
