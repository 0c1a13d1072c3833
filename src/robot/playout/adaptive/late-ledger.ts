import { NS_PER_MS, NS_PER_S } from '../../../core/time/clock.ts';
import type { AdaptiveParameters } from './parameters.ts';

const CAPACITY = 512;
/** An evaluation covers one second to count in, plus the reaction that led into it. */
const LOOK_BACK_NS = 2 * NS_PER_S;
const WINDOW_NS = NS_PER_S;
/** The second to count in has soft edges: what lies between these two counts half. */
const SHORT_WINDOW_NS = 0.9 * NS_PER_S;
const LONG_WINDOW_NS = 1.1 * NS_PER_S;
/** Bisection steps over the range up to the cap: 0.3 ms of 150. */
const HALVINGS = 9;

/** Wait of a command that never arrived. */
const FOREVER_NS = 1e15;

/**
 * The recent waits that were long enough to matter. Finds the level at which every second would have had few
 * enough late commands, given the policy's own reaction. Never allocates after construction.
 */
export class LateLedger {
  readonly #atNs = new Float64Array(CAPACITY);
  readonly #waitNs = new Float64Array(CAPACITY);
  /** Time that each command represents. */
  readonly #shareNs = new Float64Array(CAPACITY);
  readonly #lateSlots = new Int32Array(CAPACITY);
  /** How late each of those is, as time that it represents. */
  readonly #lateNs = new Float64Array(CAPACITY);
  #toleranceNs = 0;
  #softNs = 1;
  #reactFrom = 0;
  #holdNs = 0;
  #giveBack = 0;
  #warpUp = 0;
  capNs = 0;
  /** Lateness allowed in a second. */
  budgetNs = 0;
  #head = 0;
  #count = 0;

  constructor(parameters: AdaptiveParameters) {
    this.configure(parameters);
  }

  configure(parameters: AdaptiveParameters): void {
    this.#toleranceNs = parameters.toleranceMs * NS_PER_MS;
    this.#softNs = Math.max(1, parameters.softMs * NS_PER_MS);
    this.budgetNs = parameters.lateShare * WINDOW_NS;
    this.#reactFrom = 1 - parameters.leadShare;
    this.#holdNs = parameters.holdMs * NS_PER_MS;
    this.#giveBack = parameters.giveBack;
    this.#warpUp = parameters.warpUp;
    this.capNs = parameters.capMs * NS_PER_MS;
  }

  add(atNs: number, waitNs: number, shareNs: number): void {
    this.#atNs[this.#head] = atNs;
    this.#waitNs[this.#head] = waitNs;
    this.#shareNs[this.#head] = shareNs;
    this.#head = (this.#head + 1) % CAPACITY;
    if (this.#count < CAPACITY) this.#count++;
  }

  /** Adds commands that no delay can recover. */
  addLost(atNs: number, commands: number, periodNs: number): void {
    for (let i = 0; i < commands; i++) this.add(atNs, FOREVER_NS, periodNs);
  }

  /** A command counted as lost arrived after all, overtaken by newer ones. */
  found(atNs: number, waitNs: number): void {
    for (let back = 1; back <= this.#count; back++) {
      const slot = (this.#head + CAPACITY - back) % CAPACITY;
      if (this.#atNs[slot]! <= atNs) return;
      if (this.#waitNs[slot] !== FOREVER_NS) continue;
      this.#waitNs[slot] = waitNs;
      return;
    }
  }

  clear(): void {
    this.#count = 0;
  }

  /** Removes entries at or after `fromNs`, because the clock had stepped. */
  forgetSince(fromNs: number): void {
    while (this.#count > 0) {
      const newest = (this.#head + CAPACITY - 1) % CAPACITY;
      if (this.#atNs[newest]! < fromNs) return;
      this.#head = newest;
      this.#count--;
    }
  }

  /** Smallest sufficient level, at least `knownNs`; Infinity if not even the cap would have sufficed. */
  needNs(nowNs: number, knownNs: number, triggerNs: number): number {
    let first = this.#head;
    let count = 0;
    while (count < this.#count) {
      const before = first === 0 ? CAPACITY - 1 : first - 1;
      if (this.#atNs[before]! < nowNs - LOOK_BACK_NS) break;
      first = before;
      count++;
    }
    if (!this.#isBad(knownNs, first, count, triggerNs)) return knownNs;
    if (this.#isBad(this.capNs, first, count, triggerNs)) return Number.POSITIVE_INFINITY;
    let low = knownNs;
    let high = this.capNs;
    for (let i = 0; i < HALVINGS; i++) {
      const middle = (low + high) / 2;
      if (this.#isBad(middle, first, count, triggerNs)) low = middle;
      else high = middle;
    }
    return high;
  }

  /** Replays the ledger with a level; true if any second had too much lateness. */
  #isBad(levelNs: number, first: number, count: number, triggerNs: number): boolean {
    const late = this.#lateSlots;
    let reactionNs = 0;
    let reactedNs = Number.NEGATIVE_INFINITY;
    let previousNs = Number.NEGATIVE_INFINITY;
    let shortNs = 0;
    let longNs = 0;
    let oldestShort = 0;
    let oldestLong = 0;
    let end = 0;
    for (let k = 0, slot = first; k < count; k++, slot = slot + 1 === CAPACITY ? 0 : slot + 1) {
      const atNs = this.#atNs[slot]!;
      const waitNs = this.#waitNs[slot]!;
      const shareNs = this.#shareNs[slot]!;
      if (reactionNs > 0) {
        const idleNs = Math.min(atNs - reactedNs - this.#holdNs, atNs - previousNs);
        if (idleNs > 0) reactionNs = Math.max(0, reactionNs - this.#giveBack * idleNs);
      }
      previousNs = atNs;
      const fromNs = this.#reactFrom * (levelNs + reactionNs);
      if (waitNs > triggerNs && waitNs > fromNs && waitNs < this.capNs) {
        reactionNs = Math.min(reactionNs + this.#warpUp * shareNs, this.capNs - levelNs);
        reactedNs = atNs;
      }
      const excessNs = waitNs - levelNs - reactionNs - this.#toleranceNs;
      const lateness = Math.min(1, 0.5 + excessNs / this.#softNs);
      if (lateness <= 0) continue;
      this.#lateNs[end] = lateness * shareNs;
      late[end] = slot;
      shortNs += this.#lateNs[end]!;
      longNs += this.#lateNs[end++]!;
      while (this.#atNs[late[oldestShort]!]! <= atNs - SHORT_WINDOW_NS)
        shortNs -= this.#lateNs[oldestShort++]!;
      while (this.#atNs[late[oldestLong]!]! <= atNs - LONG_WINDOW_NS) longNs -= this.#lateNs[oldestLong++]!;
      if ((shortNs + longNs) / 2 > this.budgetNs) return true;
    }
    return false;
  }
}
