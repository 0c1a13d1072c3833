import type { Register } from '../servo/servo-protocol.ts';

const register = (address: number, size: 1 | 2): Register => ({ address, size });

/** Registers of an STS3215, as in Feetech's memory table. Up to 39 they are kept without power. */
export const STS = {
  model: register(3, 2),
  minPosition: register(9, 2),
  maxPosition: register(11, 2),
  maxTorque: register(16, 2),
  p: register(21, 1),
  d: register(22, 1),
  i: register(23, 1),
  homingOffset: register(31, 2),
  mode: register(33, 1),
  torqueEnable: register(40, 1),
  acceleration: register(41, 1),
  goalPosition: register(42, 2),
  torqueLimit: register(48, 2),
  lock: register(55, 1),
  presentPosition: register(56, 2),
} as const;

/** Position, speed, load, voltage and temperature in one read. */
export const STS_PRESENT = { address: 56, size: 8, speedAt: 2, loadAt: 4, temperatureAt: 7 } as const;

export const STS_MODEL = 777;
export const STEPS = 4096;
export const RAD_PER_STEP = (2 * Math.PI) / STEPS;
/** Sign bits: Feetech stores sign and magnitude, not two's complement. */
export const SIGN_BIT = { position: 15, speed: 15, load: 10, homingOffset: 11 } as const;

/** Hot path. */
export function fromSigned(raw: number, signBit: number): number {
  const magnitude = raw & ((1 << signBit) - 1);
  return (raw >> signBit) & 1 ? -magnitude : magnitude;
}

/** Hot path. The magnitude is clamped to what fits. */
export function toSigned(value: number, signBit: number): number {
  const magnitude = Math.min(Math.round(Math.abs(value)), (1 << signBit) - 1);
  return value < 0 && magnitude > 0 ? magnitude | (1 << signBit) : magnitude;
}
