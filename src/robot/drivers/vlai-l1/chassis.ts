// UNVERIFIED ON HARDWARE: layout as the maker's own listener has it; no host-loss stop of the chassis is documented.
import { type CanFrame, emptyFrame } from '../../buses/can-frame.ts';

const CHASSIS_ID = 0x050;
const ODOMETRY_ID = 0x051;
/** Of each of the three speeds, in the chassis's own unit. */
export const CHASSIS_MAX = 800;
const LIFT = { still: 0, down: 1, up: 2 } as const;

export interface ChassisCommand {
  /** To the right, forward, clockwise: whole numbers up to CHASSIS_MAX either way. */
  right: number;
  forward: number;
  clockwise: number;
  lift: keyof typeof LIFT;
}

const clamp = (value: number): number =>
  Math.trunc(Math.max(-CHASSIS_MAX, Math.min(CHASSIS_MAX, value)) || 0);

/** What the chassis of an L1 is told on its own bus, 500 kbit/s. */
export function chassisFrame({ right, forward, clockwise, lift }: ChassisCommand): CanFrame {
  const frame = emptyFrame(CHASSIS_ID);
  frame.length = 8;
  [right, forward, clockwise].forEach((value, i) => {
    frame.data[2 * i] = clamp(value);
    frame.data[2 * i + 1] = clamp(value) >> 8;
  });
  frame.data[7] = LIFT[lift];
  return frame;
}

export const chassisStopFrame = (): CanFrame =>
  chassisFrame({ right: 0, forward: 0, clockwise: 0, lift: 'still' });

export interface Odometry {
  rightM: number;
  forwardM: number;
  clockwiseRad: number;
}

/** Firmware 1.1.1 or newer; null for any other frame. Older firmware sends speeds in the other byte order. */
export function odometryOf({ id, extended, length, data }: CanFrame): Odometry | null {
  if (id !== ODOMETRY_ID || extended || length !== 8) return null;
  const int16 = (at: number): number => ((data[at]! << 24) >> 16) | data[at + 1]!;
  return { rightM: int16(0) / 2000, forwardM: int16(2) / 2000, clockwiseRad: int16(4) / 1000 };
}
