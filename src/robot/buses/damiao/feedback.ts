import type { CanFrame } from '../can-frame.ts';
import { PARAMETER, parameterValue, unscaled } from './frames.ts';
import type { MotorLimits } from './motors.ts';

/** High nibble of the first byte. From 8 on the motor has cut its own power. */
export const STATUS = { disabled: 0, enabled: 1 } as const;
const FAULTS: Readonly<Record<number, string>> = {
  8: 'reports overvoltage',
  9: 'reports undervoltage',
  10: 'reports overcurrent',
  11: 'reports an overheated driver',
  12: 'reports an overheated coil',
  13: 'lost communication with the host',
  14: 'reports an overload',
};

/** A status as text that follows the motor's name; empty for enabled and disabled. */
export const statusFault = (status: number): string =>
  status <= STATUS.enabled ? '' : (FAULTS[status] ?? `reports error ${status}`);

export interface MotorAddress {
  id: number;
  replyId: number;
}

/** The last feedback of each motor on a bus, in motor coordinates, with its arrival time (robot clock). */
export class DamiaoFeedback {
  readonly positionsRad: Float64Array;
  readonly velocitiesRadS: Float64Array;
  readonly torquesNm: Float64Array;
  readonly driverC: Float64Array;
  readonly coilC: Float64Array;
  readonly status: Uint8Array;
  readonly receivedNs: Float64Array;
  /** Scale of its frames; NaN until the motor has reported it. Feedback is ignored until then. */
  readonly limits: MotorLimits[];
  /** Rejected frames: wrong length, or another motor's number inside. */
  rejected = 0;
  readonly #motors: readonly MotorAddress[];
  /** By reply id. */
  readonly #place = new Int16Array(0x800).fill(-1);
  readonly #registers: Map<number, number>[];

  constructor(motors: readonly MotorAddress[]) {
    const count = motors.length;
    this.#motors = motors;
    for (let i = 0; i < count; i++) this.#place[motors[i]!.replyId] = i;
    this.positionsRad = new Float64Array(count);
    this.velocitiesRadS = new Float64Array(count);
    this.torquesNm = new Float64Array(count);
    this.driverC = new Float64Array(count);
    this.coilC = new Float64Array(count);
    this.status = new Uint8Array(count);
    this.receivedNs = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
    this.limits = motors.map(() => ({ positionRad: NaN, velocityRadS: NaN, torqueNm: NaN }));
    this.#registers = motors.map(() => new Map());
  }

  register(motor: number, register: number): number | undefined {
    return this.#registers[motor]!.get(register);
  }

  forget(motor: number, register: number): void {
    this.#registers[motor]!.delete(register);
  }

  /** Oldest arrival time among the first `count` motors. */
  oldestNs(count: number): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < count; i++) oldest = Math.min(oldest, this.receivedNs[i]!);
    return oldest;
  }

  /** Hot path. */
  take(frame: CanFrame, nowNs: number): void {
    if (frame.extended || frame.remote) return;
    const motor = this.#place[frame.id & 0x7ff]!;
    if (motor < 0) return;
    const { data } = frame;
    const { id } = this.#motors[motor]!;
    if (frame.length !== 8) this.rejected++;
    else if (isParameterReply(data, id)) this.#registers[motor]!.set(data[3]!, parameterValue(data));
    else if ((data[0]! & 15) !== (id & 15)) this.rejected++;
    else this.#takeState(motor, data, nowNs);
  }

  #takeState(motor: number, data: Uint8Array, nowNs: number): void {
    const { positionRad, velocityRadS, torqueNm } = this.limits[motor]!;
    if (!(positionRad > 0)) return;
    this.status[motor] = data[0]! >> 4;
    this.positionsRad[motor] = unscaled((data[1]! << 8) | data[2]!, -positionRad, positionRad, 16);
    this.velocitiesRadS[motor] = unscaled((data[3]! << 4) | (data[4]! >> 4), -velocityRadS, velocityRadS, 12);
    this.torquesNm[motor] = unscaled(((data[4]! & 15) << 8) | data[5]!, -torqueNm, torqueNm, 12);
    this.driverC[motor] = data[6]!;
    this.coilC[motor] = data[7]!;
    this.receivedNs[motor] = nowNs;
  }
}

/**
 * Parameter replies arrive under the same id. Read as a state, these bytes would be a motor at the very end
 * of its range (−12.49 rad), which no joint of ours reaches.
 */
const isParameterReply = (data: Uint8Array, id: number): boolean =>
  data[0] === (id & 0xff) &&
  data[1] === id >> 8 &&
  (data[2] === PARAMETER.read || data[2] === PARAMETER.write);
