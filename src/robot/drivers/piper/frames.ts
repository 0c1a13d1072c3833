import { type CanFrame, emptyFrame } from '../../buses/can-frame.ts';

/**
 * AgileX Piper, host to arm: classic CAN at 1 Mbit/s, 11-bit ids, 8 bytes, big-endian. On the bus, angles are
 * integer millidegrees and lengths integer micrometres; only this file and `feedback.ts` convert them.
 */
export const PIPER_BITRATE = 1_000_000;
export const PIPER_JOINTS = 6;

export const ID = {
  stop: 0x150,
  mode: 0x151,
  pose: 0x152,
  joints: 0x155,
  gripper: 0x159,
  mit: 0x15a,
  role: 0x470,
  enable: 0x471,
  queryLimits: 0x472,
  firmware: 0x4af,
  status: 0x2a1,
  poseFeedback: 0x2a2,
  jointFeedback: 0x2a5,
  gripperFeedback: 0x2a8,
  highSpeed: 0x251,
  lowSpeed: 0x261,
} as const;

/** Second byte of the mode frame. */
export const MOVE = { pose: 0, joint: 1, line: 2, circle: 3, mit: 4 } as const;
export const CAN_CONTROL = 1;
/** A `gripper` frame's action. */
export const GRIPPER = { disable: 0, enable: 1, disableAndClear: 2, enableAndClear: 3 } as const;

export const MILLIDEG_PER_RAD = 180_000 / Math.PI;
export const UM_PER_M = 1e6;

export const piperFrame = (id: number): CanFrame => ({ ...emptyFrame(id), length: 8 });

export function putInt32(data: Uint8Array, at: number, value: number): void {
  data[at] = value >> 24;
  data[at + 1] = value >> 16;
  data[at + 2] = value >> 8;
  data[at + 3] = value;
}

export const millideg = (rad: number): number => Math.round(rad * MILLIDEG_PER_RAD);

/** One byte per argument, the rest zero. */
export function shortFrame(id: number, ...bytes: readonly number[]): CanFrame {
  const frame = piperFrame(id);
  frame.data.set(bytes);
  return frame;
}

/** Stops all joints until `resumeFrame`. */
export const stopFrame = (): CanFrame => shortFrame(ID.stop, 1);
/** Ends a stop. Cuts the power of the joints: **the arm drops**. */
export const resumeFrame = (): CanFrame => shortFrame(ID.stop, 2);
export const followerFrame = (): CanFrame => shortFrame(ID.role, 0xfc);
export const firmwareQueryFrame = (): CanFrame => shortFrame(ID.firmware, 1);
/** Motor 1 … 6, or 7 for all, as the vendor's SDK sends. Disabling drops the arm. */
export const enableFrame = (enable: boolean, motor = 7): CanFrame =>
  shortFrame(ID.enable, motor, enable ? 2 : 1);
/** Share of the arm's top speed, 0 … 100; `follow` 0xAD is MIT or the vendor's "high-follow". */
export const modeFrame = (move: number, speedPercent: number, follow = 0): CanFrame =>
  shortFrame(ID.mode, CAN_CONTROL, move, speedPercent, follow);

/** Three frames, ids 0x155 … 0x157 or 0x152 … 0x154, for six numbers. */
export const tripleFrames = (firstId: number): CanFrame[] => [0, 1, 2].map((i) => piperFrame(firstId + i));

/** Hot path. */
export function setJoints(frames: readonly CanFrame[], positionsRad: ArrayLike<number>): void {
  for (let i = 0; i < PIPER_JOINTS; i++)
    putInt32(frames[i >> 1]!.data, (i & 1) * 4, millideg(positionsRad[i]!));
}

/** Hot path. `rpyRad`: R = Rz(yaw) Ry(pitch) Rx(roll). */
export function setPose(
  frames: readonly CanFrame[],
  positionM: ArrayLike<number>,
  rpyRad: ArrayLike<number>,
): void {
  for (let i = 0; i < 3; i++) {
    putInt32(frames[i >> 1]!.data, (i & 1) * 4, Math.round(positionM[i]! * UM_PER_M));
    putInt32(frames[(i + 3) >> 1]!.data, ((i + 3) & 1) * 4, millideg(rpyRad[i]!));
  }
}

/** Hot path. `strokeM`: distance between the fingers. */
export function setGripper(frame: CanFrame, strokeM: number, torqueNm: number, action: number): void {
  const { data } = frame;
  const milliNm = Math.round(torqueNm * 1000);
  putInt32(data, 0, Math.round(strokeM * UM_PER_M));
  data[4] = milliNm >> 8;
  data[5] = milliNm;
  data[6] = action;
  data[7] = 0;
}

/** x, y, z, w to roll, pitch, yaw with R = Rz Ry Rx. Hot path. */
export function rpyFromQuat(q: Float64Array, out: Float64Array): void {
  const x = q[0]!;
  const y = q[1]!;
  const z = q[2]!;
  const w = q[3]!;
  const sinPitch = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
  out[0] = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
  out[1] = Math.asin(sinPitch);
  out[2] = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}
