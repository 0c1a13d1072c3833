import {
  MODE,
  RAD_PER_TICK,
  REGISTER,
  XL330,
  XL330_STALL_NM,
} from '../robot/buses/dynamixel/control-table.ts';
import { DYNAMIXEL_2 } from '../robot/buses/dynamixel/dynamixel-2.ts';
import { FEETECH_STS } from '../robot/buses/feetech/feetech-scs.ts';
import { fromSigned, SIGN_BIT, STS } from '../robot/buses/feetech/sts3215.ts';
import { syncWrite } from '../robot/buses/servo/operations.ts';
import type { ServoBus } from '../robot/buses/servo/servo-bus.ts';
import type { Register, ServoProtocol } from '../robot/buses/servo/servo-protocol.ts';
import type { MotorFacts } from './leader-line.ts';

/** How the joints' motors get a torque. `ids`: those of the joints; `raw`: their positions as read. */
export interface MotorTorque extends MotorFacts {
  /** Torque on, at zero. Also after the bus was lost. */
  begin(bus: ServoBus, ids: readonly number[], raw: readonly number[]): Promise<void>;
  /** Hot path of the leader. */
  apply(
    bus: ServoBus,
    ids: readonly number[],
    raw: readonly number[],
    torquesNm: Float64Array,
  ): Promise<void>;
  /** Torque off, and everything that `begin` changed as the motor's maker left it. */
  end(bus: ServoBus, ids: readonly number[]): Promise<void>;
}

/** What differs between the servos of leader arms. All have 4096 ticks a turn. */
export interface LeaderMotors {
  readonly protocol: ServoProtocol;
  readonly torqueEnable: Register;
  readonly presentPosition: Register;
  readonly torque: MotorTorque;
  /** Ticks of motor `i`, where 2048 is a joint's zero. */
  ticks(raw: number, i: number): number;
}

/** Without traffic for this long a Dynamixel ends its torque by itself; in steps of 20 ms. */
const WATCHDOG_UNITS = 5;

/** Goal currents. UNVERIFIED ON HARDWARE */
const dynamixelTorque: MotorTorque = {
  stallNm: () => XL330_STALL_NM,
  stepRad: RAD_PER_TICK,
  async begin(bus, ids) {
    await syncWrite(bus, ids, REGISTER.busWatchdog, 0);
    await syncWrite(bus, ids, REGISTER.torqueEnable, 0);
    await syncWrite(bus, ids, REGISTER.operatingMode, MODE.current);
    await syncWrite(bus, ids, REGISTER.goalCurrent, 0);
    await syncWrite(bus, ids, REGISTER.busWatchdog, WATCHDOG_UNITS);
    await syncWrite(bus, ids, REGISTER.torqueEnable, 1);
  },
  async apply(bus, ids, _raw, torquesNm) {
    const units = ids.map((_, i) => Math.round(torquesNm[i]! / XL330.nmPerUnit));
    await syncWrite(bus, ids, REGISTER.goalCurrent, units);
  },
  async end(bus, ids) {
    await syncWrite(bus, ids, REGISTER.goalCurrent, 0);
    await syncWrite(bus, ids, REGISTER.torqueEnable, 0);
    await syncWrite(bus, ids, REGISTER.busWatchdog, 0);
  },
};

/** Signed: the gripper's mode counts turns. */
export const DYNAMIXEL_LEADER: LeaderMotors = {
  protocol: DYNAMIXEL_2,
  torqueEnable: REGISTER.torqueEnable,
  presentPosition: REGISTER.presentPosition,
  torque: dynamixelTorque,
  ticks: (raw) => raw | 0,
};

const MIDDLE = 2048;
/** Far enough for the position loop to use all the torque that it is allowed. */
const PULL_STEPS = 100;
/** 16.5 kg·cm at 6 V with a gear of 345:1; an SO-101 leader has 191, 345, 191, 147 and 147. Estimates by the ratio. */
const FEETECH_STALL_NM = [0.9, 1.6, 0.9, 0.68, 0.68];
const PERMILLE = 1000;

/**
 * An STS3215 has no torque mode. Its position loop pulls towards a goal 9° away with the torque limit that is set each
 * cycle. There is no watchdog either: if this process dies, the joint moves at most those 9°, with the last limit. UNVERIFIED ON HARDWARE
 */
const feetechTorque: MotorTorque = {
  stallNm: (joint) => FEETECH_STALL_NM[joint] ?? FEETECH_STALL_NM.at(-1)!,
  stepRad: RAD_PER_TICK,
  async begin(bus, ids, raw) {
    await syncWrite(bus, ids, STS.torqueLimit, 0);
    await syncWrite(bus, ids, STS.goalPosition, raw);
    await syncWrite(bus, ids, STS.torqueEnable, 1);
  },
  async apply(bus, ids, raw, torquesNm) {
    const limits = ids.map((_, i) =>
      Math.min(PERMILLE, Math.round((Math.abs(torquesNm[i]!) / feetechTorque.stallNm(i)) * PERMILLE)),
    );
    const goals = ids.map((_, i) => {
      const at = fromSigned(raw[i]!, SIGN_BIT.position) + PULL_STEPS * Math.sign(torquesNm[i]!);
      return Math.max(0, Math.min(4095, at));
    });
    await syncWrite(bus, ids, STS.torqueLimit, limits);
    await syncWrite(bus, ids, STS.goalPosition, goals);
  },
  async end(bus, ids) {
    await syncWrite(bus, ids, STS.torqueEnable, 0);
    await syncWrite(bus, ids, STS.torqueLimit, PERMILLE);
  },
};

/** SO-100 and SO-101: a joint's zero is the middle of its calibrated range, `middles[i]`; the gripper has none. */
export const feetechLeader = (middles: readonly number[]): LeaderMotors => ({
  protocol: FEETECH_STS,
  torqueEnable: STS.torqueEnable,
  presentPosition: STS.presentPosition,
  torque: feetechTorque,
  ticks: (raw, i) => fromSigned(raw, SIGN_BIT.position) + MIDDLE - (middles[i] ?? MIDDLE),
});
