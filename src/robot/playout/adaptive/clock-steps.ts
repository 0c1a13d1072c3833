import { NS_PER_MS } from '../../../core/time/clock.ts';

/** Smaller steps are left to the warp: they are not noticeable. */
const LEAST_STEP_NS = 4 * NS_PER_MS;
/** Backward steps of the stamps are harder to tell apart (catching up, reordering) and do less harm. */
const LEAST_UP_STEP_NS = 8 * NS_PER_MS;
/** The network never reduces the apparent delay by this much from one command to the next. */
export const IMPLAUSIBLE_NS = 200 * NS_PER_MS;
/** Commands that must confirm a step that was not clear immediately. */
const CONFIRMATIONS = 5;
const REFINEMENTS = 8;
const MATCH_NS = 1.5 * NS_PER_MS;
/** Beyond this many commands, whole periods cannot be counted reliably. */
const LONGEST_BASE = 12;
/** Commands during which a step applied immediately may still be reverted. */
const UNDO_COMMANDS = 8;
const RECENT = 16;
const LEVEL_OF = 5;
const START_PERIOD_NS = 10 * NS_PER_MS;

/**
 * Distinguishes a step of the clock relation from a change of the network. The sender ticks evenly and most
 * commands arrive evenly: a step shows only in the stamps, a network change only in the arrivals. Never
 * allocates after construction. Hot path.
 */
export class ClockSteps {
  readonly #recentApparentNs = new Float64Array(RECENT).fill(Number.POSITIVE_INFINITY);
  readonly #recentAtNs = new Float64Array(RECENT).fill(Number.NaN);
  #correctionNs = 0;
  #epoch: number | undefined;
  #count = 0;
  #atNs = Number.NaN;
  #receivedNs = Number.NaN;
  #apparentNs = Number.NaN;
  #stampDeltaNs = START_PERIOD_NS;
  #sinceGap = RECENT * 2;
  #meanWaitNs = 0;
  // A step awaiting confirmation: commands since, the stamp to count from, apparent delays before and since.
  #pending = 0;
  #isAnnounced = false;
  #baseAtNs = 0;
  #sinceBase = 0;
  #pendingAtNs = 0;
  #beforeNs = 0;
  #firstNs = 0;
  #leastNs = 0;
  // An upward step applied immediately that may have to be reverted.
  #undoNs = 0;
  #undoBeforeNs = 0;
  #undoLeft = 0;

  /**
   * To be set before `rectify`: see `Floor`, `NeedMemory`. Not arguments, because V8 allocates an object for each number
   * of this size that it passes to a function.
   */
  floorNs = 0;
  usualNs = 0;
  /** The sender's period, from its stamps. */
  periodNs = START_PERIOD_NS;
  /** Size of the step detected at the last command, as a change of the apparent delay; 0: none. */
  stepNs = 0;
  /** Start of that step if it took several commands to detect, else NaN; and the apparent delay before it. */
  steppedAtNs = Number.NaN;
  /** The newest stamp, without any clock steps. */
  get atNs(): number {
    return this.#atNs;
  }

  get beforeNs(): number {
    return this.#beforeNs;
  }

  get isPending(): boolean {
    return this.#pending > 0;
  }

  get correctionNs(): number {
    return this.#correctionNs;
  }

  /** The next stamp is unrelated to those before. */
  restart(): void {
    this.#count = 0;
    this.#pending = 0;
    this.#isAnnounced = false;
    this.#undoNs = 0;
    this.#recentApparentNs.fill(Number.POSITIVE_INFINITY);
    this.#recentAtNs.fill(Number.NaN);
  }

  /** Finds the stamp without any clock steps, `atNs`. */
  rectify(sampledRobotNs: number, receivedNs: number, epoch?: number): void {
    const { floorNs, usualNs } = this;
    let atNs = sampledRobotNs + this.#correctionNs;
    this.stepNs = 0;
    if (this.#count > 0) {
      const apparentNs = receivedNs - atNs;
      this.stepNs =
        epoch !== this.#epoch && epoch !== undefined && this.#epoch !== undefined
          ? this.#announced(atNs, apparentNs, floorNs, usualNs)
          : this.#detect(atNs, apparentNs, receivedNs, floorNs, usualNs);
      this.#correctionNs += this.stepNs;
      atNs += this.stepNs;
    }
    this.#epoch = epoch;
    this.#remember(atNs, receivedNs, floorNs);
  }

  #remember(atNs: number, receivedNs: number, floorNs: number): void {
    const deltaNs = atNs - this.#atNs;
    if (this.#count > 0 && deltaNs > 0) {
      const limitNs = 0.2 * this.periodNs;
      this.periodNs += 0.05 * Math.max(-limitNs, Math.min(limitNs, deltaNs - this.periodNs));
    }
    const apparentNs = receivedNs - atNs;
    if (this.#count > 0) {
      const waitNs = Math.max(0, Math.min(LEAST_STEP_NS, apparentNs - floorNs));
      this.#meanWaitNs += 0.05 * (waitNs - this.#meanWaitNs);
    }
    this.#stampDeltaNs = this.#count > 0 ? deltaNs : this.periodNs;
    this.#atNs = atNs;
    this.#receivedNs = receivedNs;
    this.#apparentNs = apparentNs;
    this.#recentApparentNs[this.#count % RECENT] = apparentNs;
    this.#recentAtNs[this.#count % RECENT] = atNs;
    this.#count++;
  }

  /** A step announced by the peer: the stamps' advance beyond whole periods. */
  #announced(atNs: number, apparentNs: number, floorNs: number, usualNs: number): number {
    const { periodNs } = this;
    const leastNs = this.#recentLeast();
    const stampDeltaNs = atNs - this.#atNs;
    const receiveDeltaNs = apparentNs - this.#apparentNs + stampDeltaNs;
    // In a stall nothing was lost; otherwise the command should be about as fast as those before.
    const isCalm = this.#apparentNs - floorNs < calmNs(usualNs);
    const fittingNs = this.#apparentNs + receiveDeltaNs - leastNs - this.#meanWaitNs;
    const periods = isCalm ? Math.max(1, Math.round(fittingNs / periodNs)) : 1;
    const stepNs = periods * periodNs - stampDeltaNs;
    this.#pending = 1;
    this.#isAnnounced = true;
    this.#pendingAtNs = atNs + stepNs;
    this.#beforeNs = leastNs;
    this.#leastNs = apparentNs - stepNs;
    this.#undoNs = 0;
    this.steppedAtNs = Number.NaN;
    return stepNs;
  }

  #detect(atNs: number, apparentNs: number, receivedNs: number, floorNs: number, usualNs: number): number {
    const { periodNs } = this;
    const stampDeltaNs = atNs - this.#atNs;
    const receiveDeltaNs = receivedNs - this.#receivedNs;
    const jumpNs = apparentNs - this.#apparentNs;
    const gapBefore = this.#sinceGap < 2 * RECENT;
    this.#sinceGap = stampDeltaNs > 1.5 * periodNs ? 0 : this.#sinceGap + 1;
    this.steppedAtNs = Number.NaN;
    if (this.#isAnnounced) return this.#refine(apparentNs);
    // First, because reverting a small step must not hide a large one.
    if (apparentNs < floorNs - IMPLAUSIBLE_NS && jumpNs < -IMPLAUSIBLE_NS) {
      this.#undoNs = 0;
      return this.#take(apparentNs, floorNs);
    }
    if (this.#undoNs !== 0) {
      const undoneNs = this.#undo(apparentNs);
      if (undoneNs !== 0) return undoneNs;
    }
    const periods = Math.max(1, Math.round(receiveDeltaNs / periodNs));
    // The stamps, not the arrivals, must account for the jump.
    const unevenNs = Math.min(0.3 * periodNs, 0.2 * Math.abs(jumpNs));
    const even =
      periods <= 3 &&
      Math.abs(receiveDeltaNs - periods * periodNs) < unevenNs &&
      this.#apparentNs - floorNs < calmNs(usualNs);
    const aheadNs = stampDeltaNs - receiveDeltaNs;
    if (
      even &&
      jumpNs < -LEAST_STEP_NS &&
      apparentNs < floorNs - LEAST_STEP_NS &&
      aheadNs > 0.8 * LEAST_STEP_NS
    )
      return this.#take(apparentNs, this.#recentLeast() + this.#meanWaitNs);
    if (
      even &&
      periods === 1 &&
      jumpNs > LEAST_UP_STEP_NS &&
      this.#isBackStep(atNs, stampDeltaNs, gapBefore)
    ) {
      this.#undoNs = jumpNs;
      this.#undoBeforeNs = this.#recentLeast();
      this.#undoLeft = UNDO_COMMANDS;
      return this.#take(apparentNs, this.#apparentNs);
    }
    return this.#confirm(atNs, apparentNs, stampDeltaNs);
  }

  #take(apparentNs: number, expectedNs: number): number {
    this.#pending = 0;
    return apparentNs - expectedNs;
  }

  /** A stamp too early for its position: off the sender's grid, not a straggler and not a duplicate. */
  #isBackStep(atNs: number, stampDeltaNs: number, gapBefore: boolean): boolean {
    const { periodNs } = this;
    if (Math.abs(this.#stampDeltaNs - periodNs) > 0.3 * periodNs) return false;
    if (stampDeltaNs > 0.2 * periodNs) return stampDeltaNs < 0.75 * periodNs;
    return !gapBefore && !this.#recentAtNs.includes(atNs);
  }

  /**
   * No command is faster than the floor: if one is as fast as before the step, there was no step. Reverts it.
   */
  #undo(apparentNs: number): number {
    const stepNs = this.#undoNs;
    if (--this.#undoLeft <= 0) this.#undoNs = 0;
    if (apparentNs >= this.#undoBeforeNs - 0.6 * stepNs) return 0;
    this.#undoNs = 0;
    return this.#take(-stepNs, 0);
  }

  /** Detects uneven stamps followed by apparent delays that shifted by the same amount. */
  #confirm(atNs: number, apparentNs: number, stampDeltaNs: number): number {
    const isUneven = Math.abs(stampDeltaNs - this.periodNs) > LEAST_STEP_NS;
    if (this.#pending === 0 && !isUneven) return 0;
    if (this.#pending === 0 || this.#sinceBase >= LONGEST_BASE) {
      this.#beforeNs = this.#recentLeast();
      this.#baseAtNs = this.#atNs;
      this.#sinceBase = 0;
    }
    this.#sinceBase++;
    if (isUneven) {
      this.#pending = 1;
      this.#pendingAtNs = Math.min(atNs, this.#atNs);
      this.#firstNs = apparentNs;
      this.#leastNs = apparentNs;
      return 0;
    }
    this.#leastNs = Math.min(this.#leastNs, apparentNs);
    if (++this.#pending <= CONFIRMATIONS) return 0;
    this.#pending = 0;
    return this.#isBorneOut(atNs) ? this.#takeLate() : 0;
  }

  /** An announced step is applied with an estimated number of commands between; a few more make it exact. */
  #refine(apparentNs: number): number {
    this.#leastNs = Math.min(this.#leastNs, apparentNs);
    if (++this.#pending <= REFINEMENTS) return 0;
    this.#pending = 0;
    this.#isAnnounced = false;
    return Math.abs(this.#leastNs - this.#beforeNs) > LEAST_STEP_NS ? this.#takeLate() : 0;
  }

  #isBorneOut(atNs: number): boolean {
    const shiftNs = this.#leastNs - this.#beforeNs;
    if (Math.abs(shiftNs) < LEAST_STEP_NS) return false;
    const aheadNs = atNs - this.#baseAtNs - this.#sinceBase * this.periodNs;
    if (Math.abs(shiftNs + aheadNs) > MATCH_NS) return false;
    // A draining queue gets there gradually, a plateau overshoots.
    const firstNs = this.#firstNs - this.#beforeNs;
    return shiftNs < 0 ? firstNs < 0.5 * shiftNs : firstNs < 1.5 * shiftNs + 2 * NS_PER_MS;
  }

  #takeLate(): number {
    this.steppedAtNs = this.#pendingAtNs;
    return this.#leastNs - this.#beforeNs;
  }

  /** Least apparent delay of the last few commands. */
  #recentLeast(): number {
    let leastNs = Number.POSITIVE_INFINITY;
    for (let back = 1; back <= LEVEL_OF && back <= this.#count; back++) {
      const apparentNs = this.#recentApparentNs[(this.#count - back) % RECENT]!;
      if (apparentNs < leastNs) leastNs = apparentNs;
    }
    return leastNs;
  }
}

/** The largest wait that is not part of a stall. */
const calmNs = (usualNs: number): number => 3 * NS_PER_MS + 2 * usualNs;
