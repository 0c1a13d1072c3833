import { type CanFrame, emptyFrame } from '../can-frame.ts';
import type { MotorLimits } from './motors.ts';

/** Classic and FD frames alike carry 8 bytes. */
const FRAME_BYTES = 8;
/** Every motor's parameters are read and written under this id. */
export const PARAMETER_ID = 0x7ff;
/** Added to a motor's id to select the control mode. */
export const ID_OFFSET = { mit: 0, positionVelocity: 0x100, velocity: 0x200, positionForce: 0x300 } as const;
/** Register 10. */
export const CONTROL_MODE = { mit: 1, positionVelocity: 2, velocity: 3, positionForce: 4 } as const;
export type ControlMode = keyof typeof CONTROL_MODE;
export const REGISTER = {
  timeout: 9,
  controlMode: 10,
  positionMax: 21,
  velocityMax: 22,
  torqueMax: 23,
} as const;
/** Last byte, after seven 0xFF. */
export const ORDER = { clearError: 0xfb, enable: 0xfc, disable: 0xfd, setZero: 0xfe } as const;
export const PARAMETER = { read: 0x33, write: 0x55, save: 0xaa, refresh: 0xcc } as const;
export const KP_MAX = 500;
export const KD_MAX = 5;

/** Registers that hold an integer; all others hold a float32. */
const isIntegerRegister = (register: number): boolean =>
  (register >= 7 && register <= 10) ||
  (register >= 13 && register <= 16) ||
  register === 35 ||
  register === 36;

export function motorFrame(id: number, fd: boolean): CanFrame {
  const frame = emptyFrame(id);
  frame.length = FRAME_BYTES;
  frame.fd = fd;
  frame.bitRateSwitch = fd;
  return frame;
}

export function orderFrame(id: number, order: number, fd: boolean): CanFrame {
  const frame = motorFrame(id, fd);
  frame.data.fill(0xff, 0, 7);
  frame.data[7] = order;
  return frame;
}

function parameterFrame(id: number, what: number, fd: boolean): CanFrame {
  const frame = motorFrame(PARAMETER_ID, fd);
  frame.data[0] = id;
  frame.data[1] = id >> 8;
  frame.data[2] = what;
  return frame;
}

/** Requests feedback; works in any motor state. */
export const refreshFrame = (id: number, fd: boolean): CanFrame => parameterFrame(id, PARAMETER.refresh, fd);

export function readFrame(id: number, register: number, fd: boolean): CanFrame {
  const frame = parameterFrame(id, PARAMETER.read, fd);
  frame.data[3] = register;
  return frame;
}

/** Writes to RAM; lost at power-off, since nothing here saves to flash. */
export function writeFrame(id: number, register: number, value: number, fd: boolean): CanFrame {
  const frame = parameterFrame(id, PARAMETER.write, fd);
  frame.data[3] = register;
  putValue(frame.data, register, value);
  return frame;
}

const view = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);

export function putValue(data: Uint8Array, register: number, value: number): void {
  if (isIntegerRegister(register)) view(data).setUint32(4, value, true);
  else view(data).setFloat32(4, value, true);
}

export const parameterValue = (data: Uint8Array): number =>
  isIntegerRegister(data[3]!) ? view(data).getUint32(4, true) : view(data).getFloat32(4, true);

/** Hot path. Clamped, then truncated, as the motors' firmware does. */
export function scaled(value: number, min: number, max: number, bits: number): number {
  const inside = Math.max(min, Math.min(max, value));
  return Math.trunc(((inside - min) / (max - min)) * (2 ** bits - 1));
}

export const unscaled = (raw: number, min: number, max: number, bits: number): number =>
  (raw * (max - min)) / (2 ** bits - 1) + min;

/** Hot path: torque = kp · (position error) + kd · (velocity error) + torque, computed in the motor. */
export function setMit(
  { data }: CanFrame,
  { positionRad, velocityRadS, torqueNm }: MotorLimits,
  qRad: number,
  dqRadS: number,
  kp: number,
  kd: number,
  tauNm: number,
): void {
  const q = scaled(qRad, -positionRad, positionRad, 16);
  const dq = scaled(dqRadS, -velocityRadS, velocityRadS, 12);
  const kpRaw = scaled(kp, 0, KP_MAX, 12);
  const kdRaw = scaled(kd, 0, KD_MAX, 12);
  const tau = scaled(tauNm, -torqueNm, torqueNm, 12);
  data[0] = q >> 8;
  data[1] = q;
  data[2] = dq >> 4;
  data[3] = ((dq & 15) << 4) | (kpRaw >> 8);
  data[4] = kpRaw;
  data[5] = kdRaw >> 4;
  data[6] = ((kdRaw & 15) << 4) | (tau >> 8);
  data[7] = tau;
}

const scratch = new DataView(new ArrayBuffer(4));

function putFloat(data: Uint8Array, at: number, value: number): void {
  scratch.setFloat32(0, value, true);
  for (let i = 0; i < 4; i++) data[at + i] = scratch.getUint8(i);
}

/** Hot path. Moves to a position at up to this speed. */
export function setPositionVelocity({ data }: CanFrame, qRad: number, velocityRadS: number): void {
  putFloat(data, 0, qRad);
  putFloat(data, 4, velocityRadS);
}

/** Hot path. Moves to a position, with limits on speed and on the share of the motor's maximum current. */
export function setPositionForce(
  { data }: CanFrame,
  qRad: number,
  velocityRadS: number,
  currentShare: number,
): void {
  putFloat(data, 0, qRad);
  const velocity = Math.round(Math.max(0, Math.min(100, velocityRadS)) * 100);
  const current = Math.round(Math.max(0, Math.min(1, currentShare)) * 10_000);
  data[4] = velocity;
  data[5] = velocity >> 8;
  data[6] = current;
  data[7] = current >> 8;
}
