import { MAX_WARP_DOWN, MAX_WARP_UP } from '../../../core/statistics/smoothness.ts';
import type { PlayoutQuality } from '../../../messages/playout-request.ts';

/** Parameters of `adaptive`. docs/playout.md describes what each one contributes. */
export interface AdaptiveParameters {
  /** The floor is the smallest apparent delay over this time, and over at least the last 16 commands. */
  floorMs: number;
  /** Lateness that is not noticeable; only lateness beyond it needs delay. */
  toleranceMs: number;
  /** Lateness counts in part within half of this around the tolerance, so that the need has no steps. */
  softMs: number;
  /** Share of any second that may be later than that. The score tolerates 5.9 %. */
  lateShare: number;
  /** Delay that is added to repair lost commands; a longer one is used only if jitter requires it anyway. */
  repairMs: number;
  /** Longest wait above the floor. Needs beyond it are holes, which no delay can cover. */
  capMs: number;
  /** The reaction starts at waits this far above the usual ones … */
  triggerMs: number;
  /** … that come within this share of the current delay. */
  leadShare: number;
  /** The delay added by the reaction is kept for this long … */
  holdMs: number;
  /** … and then removed at this share of elapsed time. */
  giveBack: number;
  /** Once this share of the permitted lateness is used up, the delay grows to the longest wait … */
  guardShare: number;
  /** … of this time. */
  guardMs: number;
  /** Needs are remembered for this many seconds of driving … */
  memoryS: number;
  /** … in full for this many, then less and less … */
  memoryFullS: number;
  /** … until, at the end, this share of them is gone. */
  memoryFade: number;
  /** The level is the largest need remembered, plus this share of its mean distance to the next ones … */
  extrapolation: number;
  /** … or up to this share while the session is younger than … */
  youngExtrapolation: number;
  youngS: number;
  /** … (this many, including itself) … */
  largest: number;
  /** … plus this. */
  marginMs: number;
  /** The jitter of a usual second is covered except for this much. */
  usualToleranceMs: number;
  /** On an unknown network: this many times the usual jitter … */
  coldFactor: number;
  /** … at most this much … */
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
  softMs: 4,
  lateShare: 0.048,
  repairMs: 20,
  capMs: 150,
  triggerMs: 6,
  leadShare: 0.5,
  holdMs: 1000,
  giveBack: 0.05,
  guardShare: 0.5,
  guardMs: 1000,
  memoryS: 600,
  memoryFullS: 120,
  memoryFade: 0.5,
  extrapolation: 0.15,
  youngExtrapolation: 0.6,
  youngS: 180,
  largest: 4,
  marginMs: 3,
  usualToleranceMs: 0.2,
  coldFactor: 22,
  coldCapMs: 28,
  coldHoldS: 30,
  coldEndS: 90,
  warpUp: MAX_WARP_UP,
  warpDown: MAX_WARP_DOWN,
};

/** `balanced` is the default; the others shift the trade-off between delay and smoothness. */
export const PRESETS = {
  smooth: {
    ...BALANCED,
    toleranceMs: 3,
    lateShare: 0.035,
    repairMs: 60,
    triggerMs: 3,
    leadShare: 0.3,
    holdMs: 2000,
    memoryS: 240,
    memoryFullS: 240,
    memoryFade: 0,
    extrapolation: 0.35,
    youngExtrapolation: 0.35,
    marginMs: 2,
    coldFactor: 15,
    coldCapMs: 50,
  },
  balanced: BALANCED,
  fast: {
    ...BALANCED,
    toleranceMs: 10,
    lateShare: 0.055,
    repairMs: 0,
    triggerMs: 8,
    leadShare: 0.3,
    guardShare: 0.6,
    memoryFullS: 60,
    extrapolation: 0,
    youngExtrapolation: 0.2,
    largest: 3,
    marginMs: 2,
    coldFactor: 5,
    usualToleranceMs: 1.5,
  },
} as const satisfies Record<PlayoutQuality, AdaptiveParameters>;

export type Preset = PlayoutQuality;
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[];
