import type { Telemetry } from '../messages/telemetry.ts';
import { FeltVariation } from './felt-variation.ts';

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

/** How long to watch before somebody has understood what moves. */
const WATCHED_S = 4;
const MOVED_M = 0.05;
/** A cube that lies in the tray is looked at before the next task replaces it. */
const PLACED_S = 1.5;
/** How long to drive on the bad network before the difference is felt, and at most. */
const DRIVEN_S = 3;
const LONGEST_DRIVE_S = 10;
const SETTLED_S = 1;
const LONGEST_STEP_S = 0.2;
/** A delay that changes so much from one command to the next is seen. */
const JUMP_MS = 15;

/** Knows which step a newcomer is at, from what the telemetry shows; every step can be skipped. */
export class Tour {
  #at = 0;
  #startMs: number | null = null;
  #endMs = 0;
  #lastMs = 0;
  #drivenS = 0;
  #lastedS = 0;
  #fromM: readonly number[] | null = null;
  #score = { round: Number.NaN, value: 0 };
  #wasRecording = false;
  #isPlaced = false;
  #felt = new FeltVariation();
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

  /** By how much the latency varied from command to command (p95) at the end of a step; null: not driven in it. */
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
    this.#lastedS = 0;
    this.#fromM = null;
    this.#score = { round: Number.NaN, value: 0 };
    this.#isPlaced = false;
    this.#wasRecording = false;
    this.#felt = new FeltVariation();
  }

  #isDone({ telemetry, network }: TourView, dtS: number): boolean {
    const [mode = ''] = telemetry.link.playout.split(/[:,]/);
    const isBad = network === BAD_NETWORK;
    switch (this.step) {
      case 'watch':
        this.#lastedS += dtS;
        return this.#lastedS >= WATCHED_S && (hasCube(telemetry) || telemetry.input.active === 'page');
      case 'take-over':
        return this.#hasMoved(telemetry);
      case 'place':
        return this.#hasPlaced(telemetry, dtS);
      case 'shake':
        return this.#hasDriven(telemetry, isBad && mode === 'none', dtS) && this.#isFelt();
      case 'smooth':
        return this.#hasDriven(telemetry, isBad && mode === 'adaptive', dtS) && this.#isSmooth();
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
  #hasPlaced({ world, input }: Telemetry, dtS: number): boolean {
    if (world == null) return false;
    const { round, value } = this.#score;
    this.#score = { round: world.round, value: world.score };
    if (round === world.round && world.score > value && input.active === 'page') this.#isPlaced = true;
    if (this.#isPlaced) this.#lastedS += dtS;
    return this.#lastedS >= PLACED_S;
  }

  #hasDriven(telemetry: Telemetry, isSet: boolean, dtS: number): boolean {
    if (!isSet || !isDriven(telemetry)) {
      this.#felt.pause();
      return false;
    }
    this.#drivenS += dtS;
    // A switch changes the delay gradually: that is no variation of the link.
    if (this.#drivenS < SETTLED_S) return false;
    this.#felt.add(telemetry.closed);
    const { p95Ms } = this.#felt;
    if (p95Ms !== null && this.step !== null) this.#variationMs[this.step] = p95Ms;
    return this.#drivenS >= DRIVEN_S;
  }

  /** The network has jumped at least once; or it is unusually calm. */
  #isFelt(): boolean {
    return this.#felt.largestMs >= JUMP_MS || this.#drivenS >= LONGEST_DRIVE_S;
  }

  #isSmooth(): boolean {
    const before = this.#variationMs['shake'];
    const { p95Ms } = this.#felt;
    const isLess = before === undefined || (p95Ms !== null && p95Ms < before / 2);
    return isLess || this.#drivenS >= LONGEST_DRIVE_S;
  }

  #hasRecorded({ record }: Telemetry): boolean {
    const isRecording = record?.state === 'recording';
    const isKept = this.#wasRecording && !isRecording && record?.state !== 'failed';
    this.#wasRecording = isRecording;
    return isKept && record?.episode != null;
  }
}

const hasCube = ({ world }: Telemetry): boolean => (world?.held ?? -1) >= 0;

const isDriven = ({ input, robot }: Telemetry): boolean =>
  input.active === 'page' && input.clutch && robot?.state === 'engaged';

const distanceM = (a: readonly number[], b: readonly number[]): number =>
  Math.hypot(...a.map((value, i) => value - (b[i] ?? 0)));
