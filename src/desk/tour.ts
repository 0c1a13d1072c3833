import { percentiles, variation } from '../core/statistics/percentiles.ts';
import type { Telemetry } from '../messages/telemetry.ts';

/** The tour of a demo, in order: from watching to playing back your own recording. */
export const TOUR_STEPS = ['watch', 'take-over', 'place', 'shake', 'smooth', 'record', 'play'] as const;
export type TourStep = (typeof TOUR_STEPS)[number];

/** The emulated network that shakes the arm. */
export const BAD_NETWORK = 'wifi-untuned';

export interface TourView {
  telemetry: Telemetry;
  /** The emulated network; empty: none. */
  network: string;
  nowMs: number;
}

const MOVED_M = 0.05;
/** How long to drive on the bad network before the difference is felt. */
const DRIVEN_S = 3;
const SETTLED_S = 1;
const LONGEST_STEP_S = 0.2;

/** Knows which step a newcomer is at, from what the telemetry shows; every step can be skipped. */
export class Tour {
  #at = 0;
  #startMs: number | null = null;
  #endMs = 0;
  #lastMs = 0;
  #drivenS = 0;
  #fromM: readonly number[] | null = null;
  #score = { round: Number.NaN, value: 0 };
  #wasRecording = false;
  #oneWayMs: number[] = [];
  readonly #variationMs: Partial<Record<TourStep, number>> = {};

  /** Null: the tour is over. */
  get step(): TourStep | null {
    return TOUR_STEPS[this.#at] ?? null;
  }

  get number(): number {
    return Math.min(this.#at + 1, TOUR_STEPS.length);
  }

  get tookS(): number {
    return this.#startMs === null ? 0 : (this.#endMs - this.#startMs) / 1000;
  }

  /** By how much the latency varied from command to command (p95) in a step; null: not driven in it. */
  variationMs(step: TourStep): number | null {
    return this.#variationMs[step] ?? null;
  }

  skip(): void {
    this.#next();
  }

  /** The recording of the last step is being played. */
  played(): void {
    if (this.step === 'play') this.#next();
  }

  update(view: TourView): void {
    this.#startMs ??= view.nowMs;
    const dtS = Math.min(LONGEST_STEP_S, Math.max(0, (view.nowMs - this.#lastMs) / 1000));
    this.#lastMs = view.nowMs;
    if (this.step === null) return;
    this.#endMs = view.nowMs;
    if (this.#isDone(view, dtS)) this.#next();
  }

  #next(): void {
    this.#at++;
    this.#drivenS = 0;
    this.#fromM = null;
    this.#score = { round: Number.NaN, value: 0 };
    this.#wasRecording = false;
    this.#oneWayMs = [];
  }

  #isDone({ telemetry, network }: TourView, dtS: number): boolean {
    const [mode = ''] = telemetry.link.playout.split(/[:,]/);
    const isBad = network === BAD_NETWORK;
    switch (this.step) {
      case 'watch':
        return (telemetry.world?.held ?? -1) >= 0;
      case 'take-over':
        return this.#hasMoved(telemetry);
      case 'place':
        return this.#hasPlaced(telemetry);
      case 'shake':
        return this.#hasDriven(telemetry, isBad && mode === 'none', dtS);
      case 'smooth':
        return this.#hasDriven(telemetry, isBad && mode === 'adaptive', dtS);
      case 'record':
        return this.#hasRecorded(telemetry);
      default:
        return false;
    }
  }

  #hasMoved(telemetry: Telemetry): boolean {
    const { hand } = telemetry;
    if (!isDriven(telemetry) || hand === null) {
      this.#fromM = null;
      return false;
    }
    this.#fromM ??= [...hand.positionM];
    return distanceM(hand.positionM, this.#fromM) > MOVED_M;
  }

  /** The score of a round rises while a person drives; a new round starts at its own score. */
  #hasPlaced({ world, input }: Telemetry): boolean {
    if (world == null) return false;
    const { round, value } = this.#score;
    this.#score = { round: world.round, value: world.score };
    return round === world.round && world.score > value && input.active === 'page';
  }

  #hasDriven(telemetry: Telemetry, isSet: boolean, dtS: number): boolean {
    if (!isSet || !isDriven(telemetry)) return false;
    this.#drivenS += dtS;
    // A switch changes the delay gradually: that is no variation of the link.
    if (this.#drivenS < SETTLED_S) return false;
    for (const { oneWayMs } of telemetry.closed) if (oneWayMs !== null) this.#oneWayMs.push(oneWayMs);
    const steps = percentiles(variation(this.#oneWayMs));
    if (steps !== null && this.step !== null) this.#variationMs[this.step] = steps.p95;
    return this.#drivenS >= DRIVEN_S;
  }

  #hasRecorded({ record }: Telemetry): boolean {
    const isRecording = record?.state === 'recording';
    const isKept = this.#wasRecording && !isRecording && record?.state !== 'failed';
    this.#wasRecording = isRecording;
    return isKept && record?.episode != null;
  }
}

const isDriven = ({ input, robot }: Telemetry): boolean =>
  input.active === 'page' && input.clutch && robot?.state === 'engaged';

const distanceM = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((value, i) => value - (b[i] ?? 0)));
