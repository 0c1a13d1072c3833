import type { CanFrame } from '../../buses/can-frame.ts';
import { ID, piperFrame } from './frames.ts';

/**
 * Torque-level control of one joint. The vendor warns that it can damage the arm, firmware up to 1.8-2 multiplies
 * the torque of joints 1 to 3 by four, and sources disagree on its range. Here only so that such frames can be read
 * and written in tools: no driver sends them.
 */
export interface MitTarget {
  positionRad: number;
  velocityRadS: number;
  kp: number;
  kd: number;
  torqueNm: number;
}

const raw = (value: number, min: number, max: number, bits: number): number =>
  Math.trunc(((Math.max(min, Math.min(max, value)) - min) * (2 ** bits - 1)) / (max - min));

/** `joint` 1 … 6. Position 16 bits, velocity, kp and kd 12 each, torque 8, then a check of 4. */
export function mitFrame(joint: number, target: MitTarget): CanFrame {
  const frame = piperFrame(ID.mit + joint - 1);
  const position = raw(target.positionRad, -12.5, 12.5, 16);
  const velocity = raw(target.velocityRadS, -45, 45, 12);
  const kp = raw(target.kp, 0, 500, 12);
  const kd = raw(target.kd, -5, 5, 12);
  const torque = raw(target.torqueNm, -8, 8, 8);
  const { data } = frame;
  data[0] = position >> 8;
  data[1] = position;
  data[2] = velocity >> 4;
  data[3] = ((velocity & 15) << 4) | (kp >> 8);
  data[4] = kp;
  data[5] = kd >> 4;
  data[6] = ((kd & 15) << 4) | (torque >> 4);
  let check = 0;
  for (let i = 0; i < 7; i++) check ^= data[i]!;
  data[7] = ((torque & 15) << 4) | (check & 15);
  return frame;
}
