import { MAX_WARP_DOWN, MAX_WARP_UP } from '../../../core/statistics/smoothness.ts';
import type { PlayoutQuality } from '../../../messages/playout-request.ts';

/** What can be chosen about `adaptive`. docs/playout.md tells what each is worth. */
export interface AdaptiveParameters {
  /** The floor is the least apparent delay of this time, and of the last 16 commands at least. */
  floorMs: number;
  /** Lateness nobody feels; only what exceeds it calls for delay. */
  toleranceMs: number;
  /** Share of any second that may be later than that. The score forgives 5.9 %. */
  lateShare: number;
  /** Most that is waited above the floor. Needs beyond it are holes: no delay buys them off. */
  capMs: number;
  /** The reaction begins at waits this far above the usual ones … */
  triggerMs: number;
  /** … that come within this share of the delay in force. */
  leadShare: number;
  /** What the reaction added is kept for so long … */
  holdMs: number;
  /** … and then given back at this share of elapsed time. */
  giveBack: number;
  /** Needs are remembered for so many seconds of driving. */
  memoryS: number;
  /** The level is the largest need remembered, plus this share of its mean distance to the next ones … */
  extrapolation: number;
  /** … (so many, itself included) … */
  largest: number;
  /** … plus this. */
  marginMs: number;
  /** Jitter of a usual second is covered except for so much. */
  usualToleranceMs: number;
  /** Before anything is known of a network: this many times the usual jitter … */
  coldFactor: number;
  /** … at most so much … */
  coldCapMs: number;
  /** … fading out between these two ages of the session. */
  coldHoldS: number;
  coldEndS: number;
  /** Time warp, as shares of elapsed time. */
  warpUp: number;
  warpDown: number;
}

const BALANCED: AdaptiveParameters = {
  floorMs: 160,
  toleranceMs: 9,
  lateShare: 0.045,
  capMs: 150,
  triggerMs: 6,
  leadShare: 0.3,
  holdMs: 1000,
  giveBack: 0.05,
  memoryS: 240,
  extrapolation: 0.35,
  largest: 4,
  marginMs: 2,
  usualToleranceMs: 0.2,
  coldFactor: 15,
  coldCapMs: 35,
  coldHoldS: 30,
  coldEndS: 90,
  warpUp: MAX_WARP_UP,
  warpDown: MAX_WARP_DOWN,
};

/** `balanced` is meant for everybody; the others shift the trade between delay and smoothness. */
export const PRESETS = {
  smooth: {
    ...BALANCED,
    toleranceMs: 3,
    lateShare: 0.035,
    triggerMs: 3,
    holdMs: 2000,
    coldCapMs: 50,
  },
  balanced: BALANCED,
  fast: {
    ...BALANCED,
    toleranceMs: 10,
    lateShare: 0.055,
    triggerMs: 8,
    extrapolation: 0.2,
    largest: 3,
    coldFactor: 5,
    usualToleranceMs: 1.5,
  },
} as const satisfies Record<PlayoutQuality, AdaptiveParameters>;

export type Preset = PlayoutQuality;
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[];
