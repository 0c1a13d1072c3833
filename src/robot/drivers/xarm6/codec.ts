/**
 * UFACTORY's TCP protocol. Commands (port 502): u16 BE transaction, u16 BE protocol 2, u16 BE length of what follows,
 * u8 function, parameters; floats are little-endian f32. A reply repeats the head and adds a state byte.
 * Reports (port 30003): u32 BE total length, then state, joint angles and more.
 */
export const XARM_HEAD_BYTES = 6;
export const XARM_MAX_BYTES = 1024;
const PROTOCOL = 2;

export const XARM = {
  version: 1,
  motionEnable: 11,
  setState: 12,
  getState: 13,
  getError: 15,
  clearError: 16,
  clearWarning: 17,
  setMode: 19,
  servoJoint: 29,
} as const;

export const XARM_MODE = { position: 0, servo: 1 } as const;
/** Values to set; a report has 1 moving, 2 at rest, 3 paused, 4 stopped. */
export const XARM_STATE = { motion: 0, stop: 4 } as const;
const AT_REST = 2;
export const XARM_ALL_AXES = 8;

export const xarmTotalBytes = (bytes: Buffer, at: number): number =>
  XARM_HEAD_BYTES + bytes.readUInt16BE(at + 4);

export function encodeXarm(transaction: number, func: number, parameters: readonly number[] = []): Buffer {
  const bytes = Buffer.alloc(XARM_HEAD_BYTES + 1 + parameters.length);
  writeHead(bytes, transaction, func);
  bytes.set(parameters, XARM_HEAD_BYTES + 1);
  return bytes;
}

export const SERVO_FRAME_BYTES = XARM_HEAD_BYTES + 1 + 40;
const SERVO_AT = XARM_HEAD_BYTES + 1;

/** Seven joint angles (the last 0 for six joints), then speed, acceleration and time, which the robot ignores. Hot path. */
export function encodeServoJoint(frame: Buffer, transaction: number, positionsRad: Float64Array): void {
  writeHead(frame, transaction, XARM.servoJoint);
  for (let i = 0; i < 10; i++) {
    const value = i < positionsRad.length && i < 7 ? positionsRad[i]! : 0;
    frame.writeFloatLE(value, SERVO_AT + 4 * i);
  }
}

function writeHead(bytes: Buffer, transaction: number, func: number): void {
  bytes.writeUInt16BE(transaction & 0xffff, 0);
  bytes.writeUInt16BE(PROTOCOL, 2);
  bytes.writeUInt16BE(bytes.length - XARM_HEAD_BYTES, 4);
  bytes.writeUInt8(func, 6);
}

/** Bits of the state byte of a reply. */
export const XARM_FLAG = { error: 0x40, warning: 0x20, notReady: 0x10, invalid: 0x08 } as const;

/** Whether these bytes are a reply: protocol, length, state byte. Its function is byte 6, its state byte 7, data from 8. */
export const isXarmReply = (bytes: Buffer): boolean =>
  bytes.length >= XARM_HEAD_BYTES + 2 &&
  bytes.readUInt16BE(2) === PROTOCOL &&
  bytes.readUInt16BE(4) === bytes.length - XARM_HEAD_BYTES;

export const REPORT_HEAD_BYTES = 4;
/** After seven angles and the tool's pose. */
const TORQUES_AT = 59;
/** The real-time report; newer software adds more at its end. */
export const REPORT_MIN_BYTES = 87;
export const REPORT_MAX_BYTES = 1024;
export const reportTotalBytes = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at);

export interface XarmReport {
  state: number;
  mode: number;
  positionsRad: Float64Array;
  /** Joint torques as the control box estimates them. UNVERIFIED ON HARDWARE */
  effortsNm: Float64Array;
}

/** Whether servo targets are executed. */
export const isServoing = ({ mode, state }: XarmReport): boolean =>
  mode === XARM_MODE.servo && state <= AT_REST;

/** Reads a report in place. Returns false, and changes nothing, if it is not a report. Hot path. */
export function decodeReport(bytes: Buffer, out: XarmReport): boolean {
  if (bytes.length < REPORT_MIN_BYTES || bytes.readUInt32BE(0) !== bytes.length) return false;
  for (let i = 0; i < out.positionsRad.length; i++)
    if (!Number.isFinite(bytes.readFloatLE(7 + 4 * i))) return false;
  out.state = bytes[4]! & 0x0f;
  out.mode = bytes[4]! >> 4;
  for (let i = 0; i < out.positionsRad.length; i++) out.positionsRad[i] = bytes.readFloatLE(7 + 4 * i);
  for (let i = 0; i < out.effortsNm.length; i++) out.effortsNm[i] = bytes.readFloatLE(TORQUES_AT + 4 * i);
  return true;
}
