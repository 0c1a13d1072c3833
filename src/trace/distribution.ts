import type { Percentiles } from '../core/statistics/percentiles.ts';
import { Quantiles } from './quantiles.ts';

export interface SegmentReport {
  latencyNs: Percentiles | null;
  /** |x_i − x_{i−1}| between consecutive applied commands of one session, in order of sequence number. */
  variationNs: Percentiles | null;
}

/** Durations in the order of sending, and how they vary from one to the next. */
export class Distribution {
  readonly latency = new Quantiles();
  readonly variation = new Quantiles();
  #previousNs = Number.NaN;

  /** An unknown duration breaks the pair. */
  add(durationNs: number): void {
    this.latency.add(durationNs);
    this.variation.add(Math.abs(durationNs - this.#previousNs));
    this.#previousNs = durationNs;
  }

  /** What comes next is not to be compared with what came before. */
  restart(): void {
    this.#previousNs = Number.NaN;
  }

  report(): SegmentReport {
    return { latencyNs: this.latency.percentiles(), variationNs: this.variation.percentiles() };
  }
}
