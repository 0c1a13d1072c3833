import { NS_PER_S } from '../core/clock.ts';

interface Exchange {
  atNs: number;
  offsetNs: number;
  delayNs: number;
}

const WINDOW = 16;
const MIN_DRIFT_SPAN_NS = 5 * NS_PER_S;
const MIN_DRIFT_SAMPLES = 6;
/** Quartz is within 100 ppm; more is a measuring error. */
const MAX_DRIFT = 200e-6;

/**
 * The robot's clock as seen by the operator: the documented four-stamp exchange and median of 16, made to prefer
 * short round trips (an exchange errs by at most half its delay) and to follow drift.
 * `offset` is robot − operator. An asymmetric path biases it by half the asymmetry: no exchange can see that.
 */
export class ClockSync {
  readonly #window: Exchange[] = [];
  #referenceNs = 0;
  #offsetNs = Number.NaN;
  #drift = 0;
  #bestDelayNs = Number.NaN;
  #epoch = 0;

  get synchronized(): boolean {
    return Number.isFinite(this.#offsetNs);
  }

  /** Grows whenever the relation between the clocks was thrown away and begun anew. */
  get epoch(): number {
    return this.#epoch;
  }

  get driftPpm(): number {
    return this.#drift * 1e6;
  }

  /** Half the best round trip; NaN before the first exchange. */
  get uncertaintyNs(): number {
    return this.#bestDelayNs / 2;
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
    this.#bestDelayNs = Number.NaN;
    this.#epoch++;
  }

  /** One exchange, raw stamps. False when it cannot be true (a reply before its probe). */
  add(t0: number, t1: number, t2: number, t3: number): boolean {
    const delayNs = t3 - t0 - (t2 - t1);
    if (!(t3 >= t0) || !(t2 >= t1) || !(delayNs >= 0)) return false;
    const exchange = { atNs: (t0 + t3) / 2, offsetNs: (t1 - t0 + (t2 - t3)) / 2, delayNs };
    if (this.synchronized && this.#isStep(exchange)) this.reset();
    this.#window.push(exchange);
    if (this.#window.length > WINDOW) this.#window.shift();
    this.#estimate();
    return true;
  }

  /** Both estimates are within half their delays of the truth, so a larger gap means a clock was stepped. */
  #isStep(exchange: Exchange): boolean {
    const last = this.#window[this.#window.length - 1]!;
    const wanderNs = MAX_DRIFT * Math.abs(exchange.atNs - last.atNs);
    const gapNs = Math.abs(exchange.offsetNs - this.offsetAt(exchange.atNs));
    return gapNs > exchange.delayNs / 2 + this.#bestDelayNs + wanderNs;
  }

  #estimate(): void {
    const delays = this.#window.map((e) => e.delayNs).sort((a, b) => a - b);
    this.#bestDelayNs = delays[0]!;
    // Within twice the best delay an exchange's own error stays within the stated uncertainty.
    const limitNs = Math.max(this.#bestDelayNs, Math.min(2 * this.#bestDelayNs, delays[delays.length >> 1]!));
    const chosen = this.#window.filter((e) => e.delayNs <= limitNs);
    this.#drift = slope(chosen);
    this.#referenceNs = chosen[chosen.length - 1]!.atNs;
    const offsets = chosen
      .map((e) => e.offsetNs - this.#drift * (e.atNs - this.#referenceNs))
      .sort((a, b) => a - b);
    const mid = offsets.length >> 1;
    this.#offsetNs = offsets.length % 2 ? offsets[mid]! : (offsets[mid - 1]! + offsets[mid]!) / 2;
  }
}

/** Least-squares drift of the offsets; 0 until the samples can carry it. */
function slope(samples: Exchange[]): number {
  const n = samples.length;
  if (n < MIN_DRIFT_SAMPLES || samples[n - 1]!.atNs - samples[0]!.atNs < MIN_DRIFT_SPAN_NS) return 0;
  const meanT = samples.reduce((sum, e) => sum + (e.atNs - samples[0]!.atNs), 0) / n;
  const meanO = samples.reduce((sum, e) => sum + (e.offsetNs - samples[0]!.offsetNs), 0) / n;
  let covariance = 0;
  let variance = 0;
  for (const e of samples) {
    const t = e.atNs - samples[0]!.atNs - meanT;
    covariance += t * (e.offsetNs - samples[0]!.offsetNs - meanO);
    variance += t * t;
  }
  return Math.max(-MAX_DRIFT, Math.min(MAX_DRIFT, covariance / variance));
}
