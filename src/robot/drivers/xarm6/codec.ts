import { writeXarmHead, XARM_HEAD_BYTES } from '../../buses/xarm-frame.ts';

/** Commands (port 502): `xarm-frame.ts`. Reports (port 30003): u32 BE total length, then state, joint angles and more. */
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

export const SERVO_FRAME_BYTES = XARM_HEAD_BYTES + 1 + 40;
const SERVO_AT = XARM_HEAD_BYTES + 1;

/** Seven joint angles (the last 0 for six joints), then speed, acceleration and time, which the robot ignores. Hot path. */
export function encodeServoJoint(frame: Buffer, transaction: number, positionsRad: Float64Array): void {
  writeXarmHead(frame, transaction, XARM.servoJoint);
  for (let i = 0; i < 10; i++) {
    const value = i < positionsRad.length && i < 7 ? positionsRad[i]! : 0;
    frame.writeFloatLE(value, SERVO_AT + 4 * i);
  }
}

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
