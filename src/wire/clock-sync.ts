import { NS_PER_S } from '../core/time/clock.ts';
import type { CommonOffset } from './shared-clock.ts';

const WINDOW = 16;
const MIN_DRIFT_SPAN_NS = 2 * NS_PER_S;
const MIN_DRIFT_SAMPLES = 6;
/** Two quartzes, each within 100 ppm; a larger drift is a measurement error. */
const MAX_DRIFT = 200e-6;
/** A drift estimate less certain than this is worse than none. */
const MAX_DRIFT_ERROR = 50e-6;
/** Error of an exchange's stamps: kernel stamps are wall time, converted to within tens of microseconds. */
const STAMP_ERROR_NS = 50e3;

/**
 * The robot's clock as seen by the operator: the documented four-stamp exchange and median of 16, extended to
 * prefer short round trips (an exchange is off by at most half its delay) and to follow drift. `offset` is
 * robot − operator. An asymmetric path biases it by half the asymmetry; no exchange can detect that, only a common
 * clock. The fastest exchange in each direction bounds the offset from that side. Never allocates after construction.
 */
export class ClockSync {
  /** The last exchanges, oldest first. */
  readonly #atNs = new Float64Array(WINDOW);
  readonly #offsetsNs = new Float64Array(WINDOW);
  readonly #delaysNs = new Float64Array(WINDOW);
  readonly #sorted = new Float64Array(WINDOW);
  #count = 0;
  #referenceNs = 0;
  #offsetNs = Number.NaN;
  #drift = 0;
  #uncertaintyNs = Number.NaN;
  #epoch = 0;

  get synchronized(): boolean {
    return Number.isFinite(this.#offsetNs);
  }

  /** Increases whenever the relation between the clocks was discarded and started over. */
  get epoch(): number {
    return this.#epoch;
  }

  get driftPpm(): number {
    return this.#drift * 1e6;
  }

  /**
   * The offset at the newest exchange is correct to ± this: the distance to the farther of its two bounds, each set
   * by the fastest exchange in one direction, its stamp error and its age. Grows by `wander` until the next. NaN
   * before the first exchange.
   */
  get uncertaintyNs(): number {
    return this.#uncertaintyNs;
  }

  /** Nanoseconds per nanosecond by which the clocks may move away from the estimate. */
  get wander(): number {
    return MAX_DRIFT + Math.abs(this.#drift);
  }

  /** NaN before the first exchange. */
  offsetAt(operatorNs: number): number {
    return this.#offsetNs + this.#drift * (operatorNs - this.#referenceNs);
  }

  toRobotNs(operatorNs: number): number {
    return operatorNs + this.offsetAt(operatorNs);
  }

  toOperatorNs(robotNs: number): number {
    return robotNs - this.offsetAt(robotNs - this.#offsetNs);
  }

  reset(): void {
    this.#count = 0;
    this.#offsetNs = Number.NaN;
    this.#drift = 0;
    this.#uncertaintyNs = Number.NaN;
    this.#epoch++;
  }

  /**
   * One exchange, raw stamps. False when it is impossible (a reply before its probe). A `common` offset is used instead
   * of the estimate if the exchange does not contradict it.
   */
  add(t0: number, t1: number, t2: number, t3: number, common: CommonOffset | null = null): boolean {
    const measuredNs = t3 - t0 - (t2 - t1);
    // Over loopback the delay is smaller than the errors of its stamps, and may come out negative.
    if (!(t3 >= t0) || !(t2 >= t1) || !(measuredNs >= -2 * STAMP_ERROR_NS)) return false;
    const delayNs = Math.max(0, measuredNs);
    const atNs = (t0 + t3) / 2;
    const offsetNs = (t1 - t0 + (t2 - t3)) / 2;
    if (!Number.isFinite(offsetNs)) return false;
    if (this.synchronized && this.#isStep(atNs, offsetNs, delayNs)) this.reset();
    this.#push(atNs, offsetNs, delayNs);
    this.#estimate();
    if (common !== null) this.#adopt(common);
    return true;
  }

  #adopt({ offsetNs, errorNs }: CommonOffset): void {
    if (Math.abs(offsetNs - this.#offsetNs) > this.#uncertaintyNs + errorNs) return;
    this.#offsetNs = offsetNs;
    this.#drift = 0;
    this.#uncertaintyNs = Math.min(this.#uncertaintyNs, errorNs);
  }

  /**
   * An exchange is within half its delay of the truth and the estimate within its uncertainty; if they
   * disagree, a clock stepped.
   */
  #isStep(atNs: number, offsetNs: number, delayNs: number): boolean {
    const wanderNs = this.wander * Math.abs(atNs - this.#referenceNs);
    const gapNs = Math.abs(offsetNs - this.offsetAt(atNs));
    return gapNs > delayNs / 2 + STAMP_ERROR_NS + this.#uncertaintyNs + wanderNs;
  }

  #push(atNs: number, offsetNs: number, delayNs: number): void {
    if (this.#count === WINDOW) {
      this.#atNs.copyWithin(0, 1);
      this.#offsetsNs.copyWithin(0, 1);
      this.#delaysNs.copyWithin(0, 1);
      this.#count--;
    }
    this.#atNs[this.#count] = atNs;
    this.#offsetsNs[this.#count] = offsetNs;
    this.#delaysNs[this.#count++] = delayNs;
  }

  #estimate(): void {
    const count = this.#count;
    for (let i = 0; i < count; i++) insertSorted(this.#sorted, i, this.#delaysNs[i]!);
    const bestNs = this.#sorted[0]!;
    const limitNs = Math.min(2 * (bestNs + STAMP_ERROR_NS), this.#sorted[count >> 1]!);
    this.#referenceNs = this.#atNs[count - 1]!;
    this.#drift = this.#slope(limitNs, (limitNs - bestNs) / 2 + STAMP_ERROR_NS);
    let chosen = 0;
    for (let i = 0; i < count; i++)
      if (this.#delaysNs[i]! <= limitNs) insertSorted(this.#sorted, chosen++, this.#carried(i));
    const mid = chosen >> 1;
    this.#offsetNs = chosen % 2 ? this.#sorted[mid]! : (this.#sorted[mid - 1]! + this.#sorted[mid]!) / 2;
    this.#bound();
  }

  /** Keeps the offset within the bounds that every exchange sets, and takes its uncertainty from them. */
  #bound(): void {
    let lowNs = Number.NEGATIVE_INFINITY;
    let highNs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#count; i++) {
      const ageNs = Math.abs(this.#referenceNs - this.#atNs[i]!);
      const boundNs = this.#delaysNs[i]! / 2 + STAMP_ERROR_NS + this.wander * ageNs;
      lowNs = Math.max(lowNs, this.#carried(i) - boundNs);
      highNs = Math.min(highNs, this.#carried(i) + boundNs);
    }
    if (lowNs <= highNs) this.#offsetNs = Math.min(highNs, Math.max(lowNs, this.#offsetNs));
    this.#uncertaintyNs = Math.max(STAMP_ERROR_NS, highNs - this.#offsetNs, this.#offsetNs - lowNs);
  }

  /** The offset at the reference time according to one exchange. */
  #carried(i: number): number {
    return this.#offsetsNs[i]! + this.#drift * (this.#referenceNs - this.#atNs[i]!);
  }

  /**
   * Least-squares drift of the offsets of exchanges with delays up to `limitNs`, with up to `noiseNs` of error each; 0
   * until they support an estimate.
   */
  #slope(limitNs: number, noiseNs: number): number {
    let n = 0;
    let first = -1;
    let last = -1;
    let sumT = 0;
    let sumO = 0;
    for (let i = 0; i < this.#count; i++) {
      if (this.#delaysNs[i]! > limitNs) continue;
      if (first < 0) first = i;
      last = i;
      n++;
      sumT += this.#atNs[i]! - this.#atNs[first]!;
      sumO += this.#offsetsNs[i]! - this.#offsetsNs[first]!;
    }
    if (n < MIN_DRIFT_SAMPLES || this.#atNs[last]! - this.#atNs[first]! < MIN_DRIFT_SPAN_NS) return 0;
    let covariance = 0;
    let variance = 0;
    let lever = 0;
    for (let i = first; i <= last; i++) {
      if (this.#delaysNs[i]! > limitNs) continue;
      const t = this.#atNs[i]! - this.#atNs[first]! - sumT / n;
      covariance += t * (this.#offsetsNs[i]! - this.#offsetsNs[first]! - sumO / n);
      variance += t * t;
      lever += Math.abs(t);
    }
    if (noiseNs * lever > MAX_DRIFT_ERROR * variance) return 0;
    return Math.max(-MAX_DRIFT, Math.min(MAX_DRIFT, covariance / variance));
  }
}

/** Inserts into the first `count` numbers, which are in ascending order. */
function insertSorted(sorted: Float64Array, count: number, value: number): void {
  let at = count;
  for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = value;
}
