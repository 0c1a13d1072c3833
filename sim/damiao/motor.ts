import type { CanFrame } from '../../src/robot/buses/can-frame.ts';
import { STATUS } from '../../src/robot/buses/damiao/feedback.ts';
import {
  CONTROL_MODE,
  ID_OFFSET,
  KD_MAX,
  KP_MAX,
  motorFrame,
  ORDER,
  PARAMETER,
  parameterValue,
  putValue,
  REGISTER,
  scaled,
  unscaled,
} from '../../src/robot/buses/damiao/frames.ts';
import { MOTOR_TYPES, type MotorLimits, type MotorType } from '../../src/robot/buses/damiao/motors.ts';
import type { HeldJoint } from '../held-joint.ts';

export interface SimMotorOptions {
  id: number;
  replyId: number;
  type: MotorType;
  startRad: number;
  /** Overrides the type's limits. */
  limits?: MotorLimits;
  /** Mechanical end stops. */
  endsRad?: readonly [number, number];
}

/** Load inertia by type: plausible guesses. */
const INERTIA: Partial<Record<MotorType, number>> = { DM8009: 0.12, DM4340: 0.08 };
const SMALL_INERTIA = 0.012;
const FRICTION_NM_S = 0.02;
const POSITION_LOOP_RAD_S2 = 60;
const FRAME_BYTES = 8;

/** One Damiao motor: registers, orders, three control modes, and its motion. */
export class SimMotor {
  readonly id: number;
  readonly replyId: number;
  readonly registers = new Map<number, number>();
  status: number = STATUS.disabled;
  positionRad: number;
  velocityRadS = 0;
  torqueNm = 0;
  /** What the encoder and the drive measure, where something else moves the joint. */
  measured: { positionRad: number; velocityRadS: number; torqueNm: number } | null = null;
  /** A person's hand on the joint: with torque it is a spring to `aimRad`, without, the joint is there. */
  held: HeldJoint | null = null;
  aimRad = 0;
  /** No longer replies. */
  mute = false;
  /** Orders and commands received. */
  commands = 0;
  readonly #inertia: number;
  readonly #endsRad: readonly [number, number];
  #qRad: number;
  #dqRadS = 0;
  #kp = 0;
  #kd = 0;
  #tauNm = 0;
  #speedRadS = 0;

  constructor({ id, replyId, type, startRad, limits, endsRad = [-12.4, 12.4] }: SimMotorOptions) {
    this.id = id;
    this.replyId = replyId;
    this.positionRad = startRad;
    this.#qRad = startRad;
    this.#endsRad = endsRad;
    this.#inertia = INERTIA[type] ?? SMALL_INERTIA;
    const { positionRad, velocityRadS, torqueNm } = limits ?? MOTOR_TYPES[type][0];
    const values: [number, number][] = [
      [7, replyId],
      [8, id],
      [REGISTER.timeout, 0],
      [REGISTER.controlMode, CONTROL_MODE.mit],
      [REGISTER.positionMax, positionRad],
      [REGISTER.velocityMax, velocityRadS],
      [REGISTER.torqueMax, torqueNm],
      [35, 9],
    ];
    for (const [register, value] of values) this.registers.set(register, value);
  }

  get enabled(): boolean {
    return this.status === STATUS.enabled;
  }

  /** Its reply to a frame; null if the frame is for another motor. */
  take(frame: CanFrame): CanFrame | null {
    const { id, data } = frame;
    if (id === 0x7ff) return this.#isMine(data) ? this.#parameter(frame) : null;
    const offset = id - this.id;
    if (!Object.values(ID_OFFSET).includes(offset as 0)) return null;
    this.commands++;
    if (isOrder(data)) this.#order(data[7]!);
    else if (this.enabled && offset === this.#offset) this.#command(data);
    return this.#state(frame.fd);
  }

  step(dtS: number): void {
    if (this.held !== null) {
      this.#inHand(dtS, this.held);
      return;
    }
    if (!this.enabled) this.velocityRadS = 0;
    else if (this.registers.get(REGISTER.controlMode) === CONTROL_MODE.mit) this.#spring(dtS);
    else this.#follow(dtS);
    const [low, high] = this.#endsRad;
    const next = this.positionRad + this.velocityRadS * dtS;
    this.positionRad = Math.max(low, Math.min(high, next));
    if (next !== this.positionRad) this.velocityRadS = 0;
  }

  /** Cuts its power with an error, as an overheated motor does. */
  fail(status: number): void {
    this.status = status;
  }

  get #offset(): number {
    const mode = this.registers.get(REGISTER.controlMode);
    const [name] = Object.entries(CONTROL_MODE).find(([, value]) => value === mode) ?? ['mit'];
    return ID_OFFSET[name as keyof typeof ID_OFFSET];
  }

  #isMine(data: Uint8Array): boolean {
    return (data[0]! | (data[1]! << 8)) === this.id;
  }

  #parameter({ data, fd }: CanFrame): CanFrame | null {
    if (data[2] === PARAMETER.refresh) return this.#state(fd);
    const register = data[3]!;
    if (data[2] === PARAMETER.write) this.registers.set(register, parameterValue(data));
    else if (data[2] !== PARAMETER.read) return null;
    const reply = motorFrame(this.replyId, fd);
    reply.data.set(data.subarray(0, FRAME_BYTES));
    putValue(reply.data, register, this.registers.get(register) ?? 0);
    return reply;
  }

  #order(order: number): void {
    if (order === ORDER.enable && this.status <= STATUS.enabled) {
      if (!this.enabled) this.#rest();
      this.status = STATUS.enabled;
    } else if (order === ORDER.disable) this.status = STATUS.disabled;
    else if (order === ORDER.clearError && !this.enabled) this.status = STATUS.disabled;
    else if (order === ORDER.setZero) this.positionRad = 0;
  }

  #rest(): void {
    this.#qRad = this.positionRad;
    this.#dqRadS = 0;
    this.#kp = 0;
    this.#kd = 0;
    this.#tauNm = 0;
    this.#speedRadS = 0;
  }

  #command(data: Uint8Array): void {
    const mode = this.registers.get(REGISTER.controlMode);
    const view = new DataView(data.buffer, data.byteOffset, FRAME_BYTES);
    if (mode === CONTROL_MODE.mit) {
      const [p, v, t] = this.#limits;
      this.#qRad = unscaled((data[0]! << 8) | data[1]!, -p, p, 16);
      this.#dqRadS = unscaled((data[2]! << 4) | (data[3]! >> 4), -v, v, 12);
      this.#kp = unscaled(((data[3]! & 15) << 8) | data[4]!, 0, KP_MAX, 12);
      this.#kd = unscaled((data[5]! << 4) | (data[6]! >> 4), 0, KD_MAX, 12);
      this.#tauNm = unscaled(((data[6]! & 15) << 8) | data[7]!, -t, t, 12);
    } else if (mode === CONTROL_MODE.positionVelocity) {
      this.#qRad = view.getFloat32(0, true);
      this.#speedRadS = view.getFloat32(4, true);
    } else if (mode === CONTROL_MODE.positionForce) {
      this.#qRad = view.getFloat32(0, true);
      this.#speedRadS = view.getUint16(6, true) === 0 ? 0 : view.getUint16(4, true) / 100;
    }
  }

  get #limits(): [number, number, number] {
    const of = (register: number): number => this.registers.get(register)!;
    return [of(REGISTER.positionMax), of(REGISTER.velocityMax), of(REGISTER.torqueMax)];
  }

  #drive(): void {
    const most = this.#limits[2];
    const wanted =
      this.#kp * (this.#qRad - this.positionRad) +
      this.#kd * (this.#dqRadS - this.velocityRadS) +
      this.#tauNm;
    this.torqueNm = Math.max(-most, Math.min(most, wanted));
  }

  #inHand(dtS: number, held: HeldJoint): void {
    if (this.enabled) {
      this.#drive();
      held.step(dtS, this.aimRad, this.torqueNm);
    } else {
      this.torqueNm = 0;
      held.place(this.aimRad);
    }
    this.velocityRadS = (held.rad - this.positionRad) / dtS;
    this.positionRad = held.rad;
  }

  #spring(dtS: number): void {
    this.#drive();
    this.velocityRadS += ((this.torqueNm - FRICTION_NM_S * this.velocityRadS) / this.#inertia) * dtS;
  }

  #follow(dtS: number): void {
    const error = this.#qRad - this.positionRad;
    const braking = Math.sqrt(2 * POSITION_LOOP_RAD_S2 * Math.abs(error));
    const wanted = Math.sign(error) * Math.min(this.#speedRadS, braking, Math.abs(error) / dtS);
    const change = Math.max(
      -POSITION_LOOP_RAD_S2 * dtS,
      Math.min(POSITION_LOOP_RAD_S2 * dtS, wanted - this.velocityRadS),
    );
    this.velocityRadS += change;
    this.torqueNm = (change / dtS) * this.#inertia;
  }

  #state(fd: boolean): CanFrame | null {
    if (this.mute) return null;
    const frame = motorFrame(this.replyId, fd);
    const { data } = frame;
    const [p, v, t] = this.#limits;
    const { positionRad, velocityRadS, torqueNm } = this.measured ?? this;
    const q = scaled(positionRad, -p, p, 16);
    const dq = scaled(velocityRadS, -v, v, 12);
    const tau = scaled(torqueNm, -t, t, 12);
    data[0] = (this.status << 4) | (this.id & 15);
    data[1] = q >> 8;
    data[2] = q;
    data[3] = dq >> 4;
    data[4] = ((dq & 15) << 4) | (tau >> 8);
    data[5] = tau;
    data[6] = 34;
    data[7] = 31;
    return frame;
  }
}

function isOrder(data: Uint8Array): boolean {
  for (let i = 0; i < 7; i++) if (data[i] !== 0xff) return false;
  return data[7]! >= ORDER.clearError && data[7]! <= ORDER.setZero;
}
