import { type AdaptiveOptions, AdaptivePolicy } from '../../src/robot/playout/adaptive.ts';
import type { PlayoutPolicy } from '../../src/robot/playout/playout-policy.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';

export interface Variant {
  name: string;
  make: () => PlayoutPolicy;
}

const adaptive = (name: string, options: AdaptiveOptions): Variant => ({
  name,
  make: () => new AdaptivePolicy(options),
});

export const named = (text: string): Variant => ({ name: text, make: () => createPolicy(text) });

/** `adaptive` with one part changed at a time. */
export const ABLATION: readonly Variant[] = [
  adaptive('full', {}),
  adaptive('no reaction', { triggerMs: 10_000 }),
  adaptive('reaction held 3 s', { holdMs: 3000 }),
  adaptive('no late command forgiven', { lateShare: 0 }),
  adaptive('5 of 100 forgiven, not 4', { lateShare: 0.055 }),
  adaptive('tolerance 3 ms', { toleranceMs: 3 }),
  adaptive('floor over 20 s', { floorMs: 20_000 }),
  adaptive('floor over 500 ms', { floorMs: 500 }),
  adaptive('memory 20 s', { memoryS: 20 }),
  adaptive('memory 60 s', { memoryS: 60 }),
  adaptive('memory 600 s', { memoryS: 600 }),
  adaptive('no extrapolation', { extrapolation: 0 }),
  adaptive('no margin either', { extrapolation: 0, marginMs: 0 }),
  adaptive('no cold start', { coldFactor: 0 }),
  adaptive('usual jitter not covered', { usualToleranceMs: 1000 }),
  adaptive('cap 80 ms', { capMs: 80 }),
  adaptive('warp 4 % / 2 %', { warpUp: 0.04, warpDown: 0.02 }),
  adaptive('warp 100 % / 100 %', { warpUp: 1, warpDown: 1 }),
];
