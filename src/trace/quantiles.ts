import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';

/** Up to this many values are kept and reported exactly. */
export const EXACT_VALUES = 100_000;
/** Buckets per doubling: beyond `EXACT_VALUES` a quantile is accurate to 0.14 %. */
const PER_OCTAVE = 512;
/** Nanoseconds below this are exact. */
const LINEAR = 1024;
const OCTAVES = 34;
const BUCKETS = LINEAR + OCTAVES * PER_OCTAVE;

/**
 * Percentiles of a stream in constant memory: exact for few values, then from a histogram with fine
 * logarithmic buckets. The maximum is always exact. Non-finite values are ignored.
 */
export class Quantiles {
  #values: Float64Array | null = new Float64Array(64);
  #above: Uint32Array | null = null;
  #below: Uint32Array | null = null;
  #count = 0;
  #max = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  get isExact(): boolean {
    return this.#values !== null;
  }

  add(value: number): void {
    if (!Number.isFinite(value)) return;
    if (value > this.#max) this.#max = value;
    if (this.#values !== null && this.#count === EXACT_VALUES) this.#bucket();
    if (this.#values === null) this.#addToBucket(value);
    else {
      if (this.#count === this.#values.length) this.#grow();
      this.#values[this.#count] = value;
    }
    this.#count++;
  }

  /** Nearest rank. */
  quantile(q: number): number {
    if (this.#count === 0) return Number.NaN;
    const rank = Math.max(1, Math.ceil(q * this.#count));
    if (rank === this.#count) return this.#max;
    if (this.#values !== null) return this.#values.slice(0, this.#count).sort()[rank - 1]!;
    return this.#fromBuckets(rank);
  }

  percentiles(): Percentiles | null {
    if (this.#count === 0) return null;
    if (this.#values !== null) return percentiles(this.#values.subarray(0, this.#count));
    return {
      p50: this.quantile(0.5),
      p95: this.quantile(0.95),
      p99: this.quantile(0.99),
      max: this.#max,
    };
  }

  /** Number of values in each interval between ascending `edges`; values outside are not counted. */
  counts(edges: readonly number[]): number[] {
    const out = new Array<number>(edges.length - 1).fill(0);
    const put = (value: number, n: number) => {
      let at = 0;
      while (at < edges.length && value >= edges[at]!) at++;
      if (at > 0 && at < edges.length) out[at - 1] = out[at - 1]! + n;
    };
    if (this.#values !== null) for (let i = 0; i < this.#count; i++) put(this.#values[i]!, 1);
    else
      for (let i = 0; i < BUCKETS; i++) {
        if (this.#above![i]! > 0) put(middleOf(i), this.#above![i]!);
        if (this.#below![i]! > 0) put(-middleOf(i), this.#below![i]!);
      }
    return out;
  }

  #grow(): void {
    const larger = new Float64Array(Math.min(EXACT_VALUES, this.#values!.length * 2));
    larger.set(this.#values!);
    this.#values = larger;
  }

  #bucket(): void {
    const values = this.#values!;
    this.#values = null;
    this.#above = new Uint32Array(BUCKETS);
    this.#below = new Uint32Array(BUCKETS);
    for (const value of values) this.#addToBucket(value);
  }

  #addToBucket(value: number): void {
    const side = value < 0 ? this.#below! : this.#above!;
    const at = bucketOf(Math.abs(value));
    side[at] = side[at]! + 1;
  }

  #fromBuckets(rank: number): number {
    let left = rank;
    for (let i = BUCKETS - 1; i >= 0; i--) {
      left -= this.#below![i]!;
      if (left <= 0) return -middleOf(i);
    }
    for (let i = 0; i < BUCKETS; i++) {
      left -= this.#above![i]!;
      if (left <= 0) return Math.min(this.#max, middleOf(i));
    }
    return this.#max;
  }
}

function bucketOf(magnitude: number): number {
  if (magnitude < LINEAR) return Math.floor(magnitude);
  return Math.min(BUCKETS - 1, LINEAR + Math.floor(Math.log2(magnitude / LINEAR) * PER_OCTAVE));
}

function middleOf(bucket: number): number {
  return bucket < LINEAR ? bucket : Math.round(LINEAR * 2 ** ((bucket - LINEAR + 0.5) / PER_OCTAVE));
}
