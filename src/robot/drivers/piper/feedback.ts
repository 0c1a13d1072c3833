import type { CanFrame } from '../../buses/can-frame.ts';
import { ID, MILLIDEG_PER_RAD, PIPER_JOINTS, UM_PER_M } from './frames.ts';

/** Status bits of a joint driver and of the gripper, byte 5 and 6 of their frames. */
export const DRIVER_FLAG = {
  undervoltage: 1,
  motorHot: 2,
  overcurrent: 4,
  driverHot: 8,
  collision: 16,
  driverError: 32,
  enabled: 64,
  stalled: 128,
} as const;

/** The joints are rated for 3 rad/s. */
const MAX_MRAD_S = 20_000;
const MAX_MILLIDEG = 360_000;
const MAX_UM = 1_000_000;
const MAX_GRIPPER_UM = 150_000;
const MAX_VERSION_BYTES = 256;

/** Torque per current of the first three joints and the others, as in the vendor's SDK. UNVERIFIED ON HARDWARE */
export const nmPerA = (joint: number): number => (joint < 3 ? 1.18125 : 0.95844);
/** From the gripper's torque to the force of its fingers. An estimate: the vendor publishes none. UNVERIFIED ON HARDWARE */
export const GRIPPER_RADIUS_M = 0.015;

/** The arm's last feedback in SI units, with the arrival time (robot clock) of each part. */
export class PiperFeedback {
  readonly positionsRad = new Float64Array(PIPER_JOINTS);
  readonly velocitiesRadS = new Float64Array(PIPER_JOINTS);
  readonly currentsA = new Float64Array(PIPER_JOINTS);
  readonly poseM = new Float64Array(3);
  readonly rpyRad = new Float64Array(3);
  readonly driverFlags = new Uint8Array(PIPER_JOINTS);
  readonly driverNs = new Float64Array(PIPER_JOINTS).fill(Number.NEGATIVE_INFINITY);
  readonly busV = new Float64Array(PIPER_JOINTS);
  readonly driverC = new Float64Array(PIPER_JOINTS);
  readonly motorC = new Float64Array(PIPER_JOINTS);
  gripperM = 0;
  gripperNm = 0;
  gripperFlags = 0;
  controlMode = 0;
  armStatus = 0;
  moveMode = 0;
  reached = false;
  /** Bit i: joint i + 1. */
  limitBits = 0;
  commBits = 0;
  statusNs = Number.NEGATIVE_INFINITY;
  /** Rejected frames from the arm: wrong length, or values impossible for a Piper. */
  rejected = 0;
  /** Control frames that only another host or a leader arm can have sent. */
  foreignCommands = 0;
  readonly #jointNs = new Float64Array(3).fill(Number.NEGATIVE_INFINITY);
  #version = '';

  /** When the oldest of the three joint frames arrived; −∞ until all have. */
  get jointsNs(): number {
    return Math.min(this.#jointNs[0]!, this.#jointNs[1]!, this.#jointNs[2]!);
  }

  get allEnabled(): boolean {
    for (let i = 0; i < PIPER_JOINTS; i++)
      if ((this.driverFlags[i]! & DRIVER_FLAG.enabled) === 0) return false;
    return true;
  }

  /** When the oldest of the six driver reports arrived. */
  get driversNs(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < PIPER_JOINTS; i++) oldest = Math.min(oldest, this.driverNs[i]!);
    return oldest;
  }

  /** `1.6-3` from the reply `…S-V1.6-3…`; null until received. */
  get firmware(): string | null {
    return /S-V(\d+\.\d+-\d+)/.exec(this.#version)?.[1] ?? null;
  }

  forgetFirmware(): void {
    this.#version = '';
  }

  /** Hot path: 3,000 frames a second. */
  take(frame: CanFrame, nowNs: number): void {
    const { id, data } = frame;
    if (frame.extended || frame.remote || frame.fd) return;
    if (id === ID.firmware) this.#takeVersion(frame);
    else if (id >= ID.joints && id < ID.joints + 3) this.foreignCommands++;
    else if (frame.length !== 8) this.rejected++;
    else if (id >= ID.jointFeedback && id < ID.jointFeedback + 3) this.#takeJoints(id, data, nowNs);
    else if (id >= ID.highSpeed && id < ID.highSpeed + PIPER_JOINTS) this.#takeHighSpeed(id, data);
    else if (id >= ID.lowSpeed && id < ID.lowSpeed + PIPER_JOINTS) this.#takeLowSpeed(id, data, nowNs);
    else if (id >= ID.poseFeedback && id < ID.poseFeedback + 3) this.#takePose(id, data);
    else if (id === ID.status) this.#takeStatus(data, nowNs);
    else if (id === ID.gripperFeedback) this.#takeGripper(data);
  }

  #takeJoints(id: number, data: Uint8Array, nowNs: number): void {
    const pair = id - ID.jointFeedback;
    const a = int32(data, 0);
    const b = int32(data, 4);
    if (Math.abs(a) > MAX_MILLIDEG || Math.abs(b) > MAX_MILLIDEG) {
      this.rejected++;
      return;
    }
    this.positionsRad[2 * pair] = a / MILLIDEG_PER_RAD;
    this.positionsRad[2 * pair + 1] = b / MILLIDEG_PER_RAD;
    this.#jointNs[pair] = nowNs;
  }

  #takeHighSpeed(id: number, data: Uint8Array): void {
    const speed = int16(data, 0);
    // The position in bytes 4–7 has no documented scale and is not used.
    if (Math.abs(speed) > MAX_MRAD_S) this.rejected++;
    else {
      this.velocitiesRadS[id - ID.highSpeed] = speed / 1000;
      this.currentsA[id - ID.highSpeed] = int16(data, 2) / 1000;
    }
  }

  #takeLowSpeed(id: number, data: Uint8Array, nowNs: number): void {
    const joint = id - ID.lowSpeed;
    this.busV[joint] = ((data[0]! << 8) | data[1]!) / 10;
    this.driverC[joint] = int16(data, 2);
    this.motorC[joint] = (data[4]! << 24) >> 24;
    this.driverFlags[joint] = data[5]!;
    this.driverNs[joint] = nowNs;
  }

  #takePose(id: number, data: Uint8Array): void {
    for (let i = 0; i < 2; i++) {
      const axis = 2 * (id - ID.poseFeedback) + i;
      const value = int32(data, 4 * i);
      if (Math.abs(value) > (axis < 3 ? MAX_UM : MAX_MILLIDEG + 1000)) this.rejected++;
      else if (axis < 3) this.poseM[axis] = value / UM_PER_M;
      else this.rpyRad[axis - 3] = value / MILLIDEG_PER_RAD;
    }
  }

  #takeStatus(data: Uint8Array, nowNs: number): void {
    this.controlMode = data[0]!;
    this.armStatus = data[1]!;
    this.moveMode = data[2]!;
    this.reached = data[4] === 0;
    this.limitBits = data[6]! & 0x3f;
    this.commBits = data[7]! & 0x3f;
    this.statusNs = nowNs;
  }

  #takeGripper(data: Uint8Array): void {
    const stroke = int32(data, 0);
    if (Math.abs(stroke) > MAX_GRIPPER_UM) {
      this.rejected++;
      return;
    }
    this.gripperM = stroke / UM_PER_M;
    this.gripperNm = int16(data, 4) / 1000;
    this.gripperFlags = data[6]!;
  }

  /** Fragments of text; zero bytes and anything before `S-V` are ignored. */
  #takeVersion({ data, length }: CanFrame): void {
    for (let i = 0; i < length; i++) this.#version += String.fromCharCode(data[i]!);
    if (this.#version.length > MAX_VERSION_BYTES) this.#version = this.#version.slice(-MAX_VERSION_BYTES);
  }
}

export const int32 = (data: Uint8Array, at: number): number =>
  (data[at]! << 24) | (data[at + 1]! << 16) | (data[at + 2]! << 8) | data[at + 3]!;

const int16 = (data: Uint8Array, at: number): number => ((data[at]! << 24) >> 16) | data[at + 1]!;
