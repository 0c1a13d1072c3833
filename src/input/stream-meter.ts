import type { InputQuality } from './device.ts';

const ARRIVALS = 64;
const INTERVALS = 16;
const SILENCE_NS = 1e9;
const MAX_GAP_S = 1;

/** Rate, jitter and estimated loss of one sender, from arrivals and the sender's own times. Allocates nothing. */
export class StreamMeter {
  readonly #arrivalsNs = new Float64Array(ARRIVALS);
  readonly #intervalsS = new Float64Array(INTERVALS);
  readonly #sortedS = new Float64Array(INTERVALS);
  #received = 0;
  #sinceReset = 0;
  #newestNs = Number.NEGATIVE_INFINITY;
  #sentS = Number.NaN;
  #jitterNs = Number.NaN;
  #periodS = Number.NaN;
  #lost = 0;

  /** A sender restarted: its clock is unrelated to the earlier one. Totals stay. */
  restart(): void {
    this.#sinceReset = 0;
    this.#newestNs = Number.NEGATIVE_INFINITY;
    this.#sentS = Number.NaN;
    this.#jitterNs = Number.NaN;
    this.#periodS = Number.NaN;
  }

  /** A message in order; `sentS` is the sender's clock. */
  received(receivedNs: number, sentS: number): void {
    const intervalS = sentS - this.#sentS;
    if (this.#sinceReset > 0) {
      const deviationNs = Math.abs(receivedNs - this.#newestNs - intervalS * 1e9);
      this.#jitterNs = Number.isNaN(this.#jitterNs)
        ? deviationNs / 16
        : this.#jitterNs + (deviationNs - this.#jitterNs) / 16;
      this.#countMissing(intervalS);
    }
    this.#arrivalsNs[this.#sinceReset % ARRIVALS] = receivedNs;
    this.#newestNs = receivedNs;
    this.#sentS = sentS;
    this.#sinceReset++;
    this.#received++;
  }

  /**
   * A gap of several usual periods counts as that many missing messages. The usual period is the median of
   * the last 16.
   */
  #countMissing(intervalS: number): void {
    if (intervalS < MAX_GAP_S && this.#periodS > 0)
      this.#lost += Math.max(0, Math.round(intervalS / this.#periodS) - 1);
    const at = (this.#sinceReset - 1) % INTERVALS;
    this.#intervalsS[at] = intervalS;
    if (at !== INTERVALS - 1) return;
    this.#sortedS.set(this.#intervalsS);
    this.#sortedS.sort();
    this.#periodS = this.#sortedS[INTERVALS / 2]!;
  }

  /** Everything but the sender's address. */
  read(nowNs: number, out: InputQuality): void {
    const kept = Math.min(this.#sinceReset, ARRIVALS);
    const oldestNs = this.#arrivalsNs[this.#sinceReset > ARRIVALS ? this.#sinceReset % ARRIVALS : 0]!;
    const silent = nowNs - this.#newestNs > SILENCE_NS;
    const spanNs = this.#newestNs - oldestNs;
    out.rateHz = silent || kept < 2 || spanNs <= 0 ? 0 : ((kept - 1) * 1e9) / spanNs;
    out.jitterNs = this.#jitterNs;
    out.received = this.#received;
    out.lost = this.#lost;
  }
}
