import type { Percentiles } from '../core/statistics/percentiles.ts';
import { Quantiles } from './quantiles.ts';

export interface SegmentReport {
  latencyNs: Percentiles | null;
  /** |x_i − x_{i−1}| between consecutive applied commands of a session, in sequence order. */
  variationNs: Percentiles | null;
}

/** Durations in send order, and their variation from one to the next. */
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

  /** The next duration is not compared with the previous one. */
  restart(): void {
    this.#previousNs = Number.NaN;
  }

  report(): SegmentReport {
    return { latencyNs: this.latency.percentiles(), variationNs: this.variation.percentiles() };
  }
}
