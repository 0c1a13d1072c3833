import { NS_PER_S } from '../core/time/clock.ts';
import type { CommonOffset } from './shared-clock.ts';

interface Exchange {
  atNs: number;
  offsetNs: number;
  delayNs: number;
}

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
 * clock. The fastest exchange in each direction bounds the offset from that side.
 */
export class ClockSync {
  readonly #window: Exchange[] = [];
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
    this.#window.length = 0;
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
    const delayNs = t3 - t0 - (t2 - t1);
    if (!(t3 >= t0) || !(t2 >= t1) || !(delayNs >= 0)) return false;
    const exchange = { atNs: (t0 + t3) / 2, offsetNs: (t1 - t0 + (t2 - t3)) / 2, delayNs };
    if (!Number.isFinite(exchange.offsetNs)) return false;
    if (this.synchronized && this.#isStep(exchange)) this.reset();
    this.#window.push(exchange);
    if (this.#window.length > WINDOW) this.#window.shift();
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
  #isStep(exchange: Exchange): boolean {
    const wanderNs = this.wander * Math.abs(exchange.atNs - this.#referenceNs);
    const gapNs = Math.abs(exchange.offsetNs - this.offsetAt(exchange.atNs));
    return gapNs > exchange.delayNs / 2 + STAMP_ERROR_NS + this.#uncertaintyNs + wanderNs;
  }

  #estimate(): void {
    const delays = this.#window.map((e) => e.delayNs).sort((a, b) => a - b);
    const bestNs = delays[0]!;
    const limitNs = Math.min(2 * (bestNs + STAMP_ERROR_NS), delays[delays.length >> 1]!);
    const chosen = this.#window.filter((e) => e.delayNs <= limitNs);
    this.#referenceNs = this.#window[this.#window.length - 1]!.atNs;
    this.#drift = slope(chosen, (limitNs - bestNs) / 2 + STAMP_ERROR_NS);
    const offsets = chosen.map((e) => this.#carried(e)).sort((a, b) => a - b);
    const mid = offsets.length >> 1;
    this.#offsetNs = offsets.length % 2 ? offsets[mid]! : (offsets[mid - 1]! + offsets[mid]!) / 2;
    let lowNs = Number.NEGATIVE_INFINITY;
    let highNs = Number.POSITIVE_INFINITY;
    for (const e of this.#window) {
      const boundNs = e.delayNs / 2 + STAMP_ERROR_NS + this.wander * Math.abs(this.#referenceNs - e.atNs);
      lowNs = Math.max(lowNs, this.#carried(e) - boundNs);
      highNs = Math.min(highNs, this.#carried(e) + boundNs);
    }
    if (lowNs <= highNs) this.#offsetNs = Math.min(highNs, Math.max(lowNs, this.#offsetNs));
    this.#uncertaintyNs = Math.max(STAMP_ERROR_NS, highNs - this.#offsetNs, this.#offsetNs - lowNs);
  }

  /** The offset at the reference time according to one exchange. */
  #carried(exchange: Exchange): number {
    return exchange.offsetNs + this.#drift * (this.#referenceNs - exchange.atNs);
  }
}

/**
 * Least-squares drift of offsets with up to `noiseNs` of error each; 0 until the samples support an estimate.
 */
function slope(samples: Exchange[], noiseNs: number): number {
  const n = samples.length;
  if (n < MIN_DRIFT_SAMPLES || samples[n - 1]!.atNs - samples[0]!.atNs < MIN_DRIFT_SPAN_NS) return 0;
  const meanT = samples.reduce((sum, e) => sum + (e.atNs - samples[0]!.atNs), 0) / n;
  const meanO = samples.reduce((sum, e) => sum + (e.offsetNs - samples[0]!.offsetNs), 0) / n;
  let covariance = 0;
  let variance = 0;
  let lever = 0;
  for (const e of samples) {
    const t = e.atNs - samples[0]!.atNs - meanT;
    covariance += t * (e.offsetNs - samples[0]!.offsetNs - meanO);
    variance += t * t;
    lever += Math.abs(t);
  }
  if (noiseNs * lever > MAX_DRIFT_ERROR * variance) return 0;
  return Math.max(-MAX_DRIFT, Math.min(MAX_DRIFT, covariance / variance));
}
