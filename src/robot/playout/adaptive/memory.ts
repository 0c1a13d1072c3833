import { NS_PER_MS } from '../../../core/time/clock.ts';
import type { AdaptiveParameters } from './parameters.ts';
import type { PriorJson } from './prior.ts';

/** The usual wait of a second is its sixth largest of a hundred: the five larger ones are tolerated. */
const USUAL_RANK = 6;
/** The usual wait is the median over this many seconds. */
const USUAL_SECONDS = 16;
const PRIOR_NEEDS = 6;
/** Level for the first seconds, while even the usual wait is unknown. */
const START_NS = 20 * NS_PER_MS;
const START_S = 5;
/** A need that includes waits beyond the cap is forgotten after this time unless it recurs. */
const BRIEF_S = 30;

/** The delays that single seconds needed, and the resulting level. Never allocates after construction. */
export class NeedMemory {
  #parameters: AdaptiveParameters;
  readonly #needsNs: Float64Array;
  readonly #briefs: Uint8Array;
  readonly #largest: Float64Array;
  readonly #waits = new Float64Array(USUAL_RANK);
  readonly #usual = new Float64Array(USUAL_SECONDS);
  readonly #sorted = new Float64Array(USUAL_SECONDS);
  readonly #cold: boolean;
  #capNs = 0;
  #seconds = 0;
  #isBrief = false;
  /** Need of the current second so far. */
  secondNs = 0;
  /** Sixth largest wait of a typical second; 0 during the first second. */
  usualNs = 0;
  levelNs = 0;

  constructor(parameters: AdaptiveParameters, prior?: PriorJson) {
    this.#parameters = parameters;
    this.#needsNs = new Float64Array(parameters.memoryS);
    this.#briefs = new Uint8Array(parameters.memoryS);
    this.#largest = new Float64Array(Math.max(parameters.largest, PRIOR_NEEDS));
    this.#cold = prior === undefined;
    this.#capNs = parameters.capMs * NS_PER_MS;
    this.levelNs = Math.min(START_NS, this.#capNs);
    if (prior === undefined) return;
    const needs = prior.needsMs.slice(0, PRIOR_NEEDS);
    // Treated as recent: unless they recur, they are forgotten in the course of this session.
    needs.forEach((ms, i) => {
      this.#needsNs[this.#needsNs.length - 1 - i] = Math.min(ms * NS_PER_MS, this.#capNs);
    });
    this.usualNs = prior.usualMs * NS_PER_MS;
    this.levelNs = this.#judge();
  }

  /** Changes the parameters. Remembered needs stay, for as long as originally configured. */
  configure(parameters: AdaptiveParameters): void {
    this.#parameters = parameters;
    this.#capNs = parameters.capMs * NS_PER_MS;
    this.levelNs = this.#judge();
  }

  /** Adds a wait of the current second. Hot path. */
  add(waitNs: number): void {
    const waits = this.#waits;
    if (waitNs <= waits[USUAL_RANK - 1]!) return;
    let at = USUAL_RANK - 1;
    for (; at > 0 && waits[at - 1]! < waitNs; at--) waits[at] = waits[at - 1]!;
    waits[at] = waitNs;
  }

  /** Raises the need of the current second. `isBrief`: it includes waits beyond the cap, which may be an outage. */
  raise(needNs: number, isBrief: boolean): void {
    this.secondNs = needNs;
    this.#isBrief ||= isBrief;
    const wantedNs = needNs + this.#parameters.marginMs * NS_PER_MS;
    this.levelNs = Math.max(this.levelNs, Math.min(wantedNs, this.#capNs));
  }

  closeSecond(): void {
    this.#needsNs[this.#seconds % this.#needsNs.length] = this.secondNs;
    this.#briefs[this.#seconds % this.#needsNs.length] = this.#isBrief ? 1 : 0;
    this.#isBrief = false;
    this.#usual[this.#seconds % USUAL_SECONDS] = this.#waits[USUAL_RANK - 1]!;
    this.#seconds++;
    this.secondNs = 0;
    this.#waits.fill(0);
    this.usualNs = this.#medianUsual();
    this.levelNs = this.#judge();
  }

  #medianUsual(): number {
    const count = Math.min(this.#seconds, USUAL_SECONDS);
    this.#sorted.set(this.#usual);
    // Unused entries are zero and sort first.
    this.#sorted.sort();
    return this.#sorted[USUAL_SECONDS - count + (count >> 1)]!;
  }

  #judge(): number {
    const { usualToleranceMs } = this.#parameters;
    const usualNs = this.usualNs - usualToleranceMs * NS_PER_MS;
    const startNs = this.#cold && this.#seconds < START_S ? START_NS : 0;
    return Math.min(this.#capNs, Math.max(0, startNs, usualNs, this.#coldNs(), this.#rememberedNs()));
  }

  #rememberedNs(): number {
    const { largest, extrapolation, youngExtrapolation, youngS, marginMs } = this.#parameters;
    this.#findLargest();
    const most = this.#largest[0]!;
    if (most === 0) return 0;
    let distance = 0;
    for (let i = 1; i < largest; i++) distance += most - this.#largest[i]!;
    const youth = this.#cold ? Math.max(0, 1 - this.#seconds / youngS) : 0;
    const share = extrapolation + youth * (youngExtrapolation - extrapolation);
    return most + (share * distance) / largest + marginMs * NS_PER_MS;
  }

  #findLargest(): void {
    const largest = this.#largest.fill(0);
    const last = largest.length - 1;
    const { memoryS, memoryFullS, memoryFade } = this.#parameters;
    const length = this.#needsNs.length;
    const perS = memoryFade / Math.max(1, memoryS - memoryFullS);
    for (let ageS = 0; ageS < length; ageS++) {
      const slot = (this.#seconds + 2 * length - 1 - ageS) % length;
      const kept = this.#needsNs[slot]!;
      if (kept <= largest[last]! || (ageS >= BRIEF_S && this.#briefs[slot] === 1)) continue;
      const needNs = kept * (1 - perS * Math.max(0, ageS - memoryFullS));
      if (needNs <= largest[last]!) continue;
      let at = last;
      for (; at > 0 && largest[at - 1]! < needNs; at--) largest[at] = largest[at - 1]!;
      largest[at] = needNs;
    }
  }

  /** Extra delay on an unknown link: one that jitters a little may at some point jitter a lot. */
  #coldNs(): number {
    const { coldFactor, coldCapMs, coldHoldS, coldEndS } = this.#parameters;
    if (!this.#cold || this.#seconds >= coldEndS) return 0;
    const faded = Math.min(1, (coldEndS - this.#seconds) / (coldEndS - coldHoldS));
    return faded * Math.min(coldCapMs * NS_PER_MS, coldFactor * this.usualNs);
  }

  exportPrior(): PriorJson {
    this.#findLargest();
    const needsMs = Array.from(this.#largest.subarray(0, PRIOR_NEEDS), toMs).filter((ms) => ms > 0);
    return { version: 1, needsMs, usualMs: toMs(this.usualNs) };
  }
}

const toMs = (ns: number): number => Math.round(ns / 1e4) / 100;
