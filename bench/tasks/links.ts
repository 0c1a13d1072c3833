import {
  type Impairment,
  type ImpairmentInput,
  impairmentSchema,
} from '../../src/wire/emulator/impairment.ts';
import { PROFILES } from '../../src/wire/emulator/profiles.ts';

/** What does a person suffer from? Each way takes 60 ms on average: constant, varying smoothly, or with stalls. */
const SAME_MEAN: Readonly<Record<string, ImpairmentInput>> = {
  'steady-60': { delayMs: 60 },
  'jitter-60': { delayMs: 60, minDelayMs: 5, jitter: { sdMs: 25, stepMs: 60 } },
  // Three stalls per second of 60 to 160 ms add 19 ms on average.
  'stalls-60': { delayMs: 41, blocks: [{ perS: 3, lengthMs: [60, 160] }] },
};

/** A link of the emulator, or one of `SAME_MEAN`. */
export function linkNamed(name: string): Impairment {
  const known = PROFILES[name as keyof typeof PROFILES]?.impairment ?? SAME_MEAN[name];
  if (known === undefined) throw new Error(`there is no link ${name}`);
  return impairmentSchema.parse(known);
}

export const SAME_MEAN_NAMES = Object.keys(SAME_MEAN);
