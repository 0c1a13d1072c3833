import { REGISTER } from '../robot/buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2 } from '../robot/buses/dynamixel/dynamixel-2.ts';
import { FEETECH_STS } from '../robot/buses/feetech/feetech-scs.ts';
import { fromSigned, SIGN_BIT, STS } from '../robot/buses/feetech/sts3215.ts';
import type { Register, ServoProtocol } from '../robot/buses/servo/servo-protocol.ts';

/** What differs between the motors of leader arms. All have 4096 ticks a turn. */
export interface LeaderMotors {
  readonly protocol: ServoProtocol;
  readonly torqueEnable: Register;
  readonly presentPosition: Register;
  /** Ticks of motor `i`, where 2048 is a joint's zero. */
  ticks(raw: number, i: number): number;
}

/** Signed: the gripper's mode counts turns. */
export const DYNAMIXEL_LEADER: LeaderMotors = {
  protocol: DYNAMIXEL_2,
  torqueEnable: REGISTER.torqueEnable,
  presentPosition: REGISTER.presentPosition,
  ticks: (raw) => raw | 0,
};

const MIDDLE = 2048;

/** SO-100 and SO-101: a joint's zero is the middle of its calibrated range, `middles[i]`; the gripper has none. */
export const feetechLeader = (middles: readonly number[]): LeaderMotors => ({
  protocol: FEETECH_STS,
  torqueEnable: STS.torqueEnable,
  presentPosition: STS.presentPosition,
  ticks: (raw, i) => fromSigned(raw, SIGN_BIT.position) + MIDDLE - (middles[i] ?? MIDDLE),
});
