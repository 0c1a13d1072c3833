import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import { DRIVER_FLAG, GRIPPER_RADIUS_M, nmPerA } from '../../src/robot/drivers/piper/feedback.ts';
import {
  ID,
  millideg,
  piperFrame,
  putInt32,
  rpyFromQuat,
  shortFrame,
  UM_PER_M,
} from '../../src/robot/drivers/piper/frames.ts';
import type { PiperArm } from './arm.ts';

const JOINTS = [0, 1, 2, 3, 4, 5];
const RESTING_MA = 350;
/** Sent 200 times a second; the low-speed frames 40 times: 3,040 frames a second. */
const FAST_IDS = [
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((i) => ID.status + i),
  ...JOINTS.map((i) => ID.highSpeed + i),
];
const SLOW_IDS = JOINTS.map((i) => ID.lowSpeed + i);
/** One period of 25 ms, in order. */
const PERIOD_IDS: readonly number[] = [...Array.from({ length: 5 }, () => FAST_IDS).flat(), ...SLOW_IDS];
export const FEEDBACK_HZ = PERIOD_IDS.length * 40;

/** The arm's repeating sequence of feedback frames. The returned frame is reused. */
export class FeedbackRound {
  readonly #arm: PiperArm;
  readonly #frame = piperFrame(0);
  readonly #positionM = new Float64Array(3);
  readonly #quat = new Float64Array(4);
  readonly #rpy = new Float64Array(3);
  #next = 0;

  constructor(arm: PiperArm) {
    this.#arm = arm;
  }

  /** Null in the leader role, which sends no feedback. */
  next(): CanFrame | null {
    const id = PERIOD_IDS[this.#next]!;
    this.#next = (this.#next + 1) % PERIOD_IDS.length;
    if (this.#arm.leader) return null;
    const frame = this.#frame;
    frame.id = id;
    frame.data.fill(0);
    if (id === ID.status) this.#status(frame.data);
    else if (id < ID.lowSpeed) this.#highSpeed(id - ID.highSpeed, frame.data);
    else if (id < ID.status) this.#lowSpeed(id - ID.lowSpeed, frame.data);
    else if (id < ID.jointFeedback) this.#pose(id - ID.poseFeedback, frame.data);
    else if (id < ID.gripperFeedback) this.#joints(id - ID.jointFeedback, frame.data);
    else this.#gripper(frame.data);
    return frame;
  }

  #status(data: Uint8Array): void {
    const arm = this.#arm;
    const { positionsRad, targetsRad } = arm.motion;
    data[0] = arm.controlMode;
    data[1] = arm.status;
    data[2] = arm.moveMode;
    data[4] = positionsRad.every((rad, i) => Math.abs(rad - targetsRad[i]!) < 1e-3) ? 0 : 1;
    data[6] = arm.limitBits;
    data[7] = arm.commBits;
  }

  #highSpeed(joint: number, data: Uint8Array): void {
    putInt16(data, 0, Math.round(this.#arm.velocitiesRadS[joint]! * 1000));
    putInt16(data, 2, this.#arm.motion.powered[joint] === 1 ? this.#currentMa(joint) : 0);
    putInt32(data, 4, millideg(this.#arm.positionsRad[joint]!));
  }

  #currentMa(joint: number): number {
    const { plant } = this.#arm;
    return plant === null ? RESTING_MA : Math.round((1000 * plant.effortsNm[joint]!) / nmPerA(joint));
  }

  #lowSpeed(joint: number, data: Uint8Array): void {
    putInt16(data, 0, 241);
    putInt16(data, 2, 38);
    data[4] = 36;
    data[5] = this.#arm.motion.powered[joint] === 1 ? DRIVER_FLAG.enabled : 0;
    putInt16(data, 6, joint < 3 ? 400 : 0);
  }

  #pose(third: number, data: Uint8Array): void {
    if (third === 0) {
      this.#arm.chain.frame(this.#arm.positionsRad, 6, this.#positionM, this.#quat);
      rpyFromQuat(this.#quat, this.#rpy);
    }
    for (let i = 0; i < 2; i++) {
      const axis = 2 * third + i;
      const value = axis < 3 ? Math.round(this.#positionM[axis]! * UM_PER_M) : millideg(this.#rpy[axis - 3]!);
      putInt32(data, 4 * i, value);
    }
  }

  #joints(pair: number, data: Uint8Array): void {
    putInt32(data, 0, millideg(this.#arm.positionsRad[2 * pair]!));
    putInt32(data, 4, millideg(this.#arm.positionsRad[2 * pair + 1]!));
  }

  #gripper(data: Uint8Array): void {
    putInt32(data, 0, Math.round(this.#arm.gripperM * UM_PER_M));
    putInt16(data, 4, Math.round(1000 * GRIPPER_RADIUS_M * (this.#arm.plant?.gripperN ?? 0)));
    data[6] = 128 | (this.#arm.gripperEnabled ? 64 : 0);
  }
}

/** The arm's replies to a query or a setting; empty if there are none. */
export function answersTo({ id, data }: CanFrame, arm: PiperArm): CanFrame[] {
  if (id === ID.firmware && data[0] === 1) return versionFrames(arm.firmware);
  if (id === ID.queryLimits) {
    const joint = arm.limits(data[0]! - 1);
    if (joint === null) return [];
    if (data[1] === 2) return [shortFrame(0x47c, data[0]!, 0x01, 0xf4)];
    const reply = shortFrame(0x473, data[0]!);
    putInt16(reply.data, 1, Math.round(millideg(joint.maxRad) / 100));
    putInt16(reply.data, 3, Math.round(millideg(joint.minRad) / 100));
    putInt16(reply.data, 5, Math.round(joint.maxVelocityRadS * 1000));
    return [reply];
  }
  if (id === 0x474 || id === 0x475) return [shortFrame(0x476, id & 0xff, 1)];
  return [];
}

/** Eight characters per frame: the arm sends all versions as one text. */
function versionFrames(firmware: string): CanFrame[] {
  const text = `H-V1.2-1 ${firmware} 2025`;
  const frames: CanFrame[] = [];
  for (let at = 0; at < text.length; at += 8)
    frames.push(shortFrame(ID.firmware, ...Buffer.from(text.slice(at, at + 8).padEnd(8, '\0'), 'latin1')));
  return frames;
}

function putInt16(data: Uint8Array, at: number, value: number): void {
  data[at] = value >> 8;
  data[at + 1] = value;
}
