import type { Percentiles } from './percentiles.ts';

const FIRST_NS = 256;
const PER_OCTAVE = 16;
const BUCKETS = 36 * PER_OCTAVE;

/** Durations in logarithmic buckets (4 % wide) in shared memory: recording costs nanoseconds and no allocation. */
export class DurationHistogram {
  readonly buffer: SharedArrayBuffer;
  readonly #counts: Int32Array;
  readonly #max: Float64Array;

  constructor(buffer = new SharedArrayBuffer(8 + BUCKETS * 4)) {
    this.buffer = buffer;
    this.#max = new Float64Array(buffer, 0, 1);
    this.#counts = new Int32Array(buffer, 8, BUCKETS);
  }

  /** Hot path. Negative durations count as zero. Whole nanoseconds: V8 allocates an object for a fraction. */
  add(durationNs: number): void {
    if (durationNs > this.#max[0]!) this.#max[0] = durationNs;
    const octaves = Math.log2(Math.max(FIRST_NS, durationNs) / FIRST_NS);
    const bucket = Math.min(BUCKETS - 1, Math.floor(octaves * PER_OCTAVE));
    this.#counts[bucket] = this.#counts[bucket]! + 1;
  }

  get count(): number {
    return this.#counts.reduce((sum, n) => sum + n, 0);
  }

  /** How many were longer than `limitNs`, to the width of a bucket. */
  countAbove(limitNs: number): number {
    const first = Math.ceil(Math.log2(Math.max(FIRST_NS, limitNs) / FIRST_NS) * PER_OCTAVE);
    return this.#counts.subarray(first).reduce((sum, n) => sum + n, 0);
  }

  /** In milliseconds; null when empty. Upper edges of the buckets, never below the true value. */
  percentilesMs(): Percentiles | null {
    const total = this.count;
    if (total === 0) return null;
    const maxMs = this.#max[0]! / 1e6;
    const at = (q: number) => {
      let left = Math.ceil(q * total);
      for (let i = 0; i < BUCKETS; i++) {
        left -= this.#counts[i]!;
        if (left <= 0) return Math.min(maxMs, (FIRST_NS * 2 ** ((i + 1) / PER_OCTAVE)) / 1e6);
      }
      return maxMs;
    };
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: maxMs };
  }
}
