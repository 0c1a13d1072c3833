import type { ArmFacts } from './arm-config.ts';

/**
 * Enactic OpenArm v10 (openarm_can, openarm_ros2): ids 1 to 8, gains of its ROS 2 hardware interface. Sources
 * disagree on which direction opens its gripper; here −1.0472 rad is open.
 */
export const OPENARM: ArmFacts = {
  bus: 'socketcan:can0',
  fd: true,
  motors: ['DM8009', 'DM8009', 'DM4340', 'DM4340', 'DM4310', 'DM4310', 'DM4310'],
  kp: [70, 70, 70, 60, 10, 10, 10],
  kd: [2.75, 2.5, 2, 2, 0.7, 0.6, 0.5],
  control: 'mit',
  gripper: {
    motor: 'DM4310',
    openRad: -1.0472,
    closedRad: 0,
    control: 'force',
    currentShare: 0.2,
    velocityRadS: 5,
    homing: false,
  },
};

/** VLAI L1: an OpenArm derivative, third-party runtime's gains. */
export const VLAI_L1: ArmFacts = {
  ...OPENARM,
  bus: 'socketcan:can2',
  kp: [240, 240, 240, 240, 24, 31, 25],
  kd: [3, 3, 3, 3, 0.2, 0.2, 0.2],
};

/** TRLC DK1 follower: newer code's MIT gains; the gripper counts from its open end. */
export const DK1: ArmFacts = {
  bus: 'damiao:/dev/ttyACM0',
  fd: false,
  motors: ['DM4340', 'DM4340', 'DM4340', 'DM4310', 'DM4310', 'DM4310'],
  kp: [80, 70, 60, 20, 20, 10],
  kd: [5, 5, 4, 1, 1, 1],
  control: 'mit',
  gripper: {
    motor: 'DM4310',
    openRad: 0,
    closedRad: -4.7,
    control: 'force',
    currentShare: 0.1058,
    velocityRadS: 10,
    homing: true,
  },
};
