import { valueAt, widthOf } from './values.ts';

export interface Range {
  low: number;
  high: number;
}

/** Running minimum, maximum, mean and deviation of a feature, per element. */
export class Moments {
  count = 0;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly mean: Float64Array;
  /** Between which values each quantile lies, by its name; empty: not known. */
  ranges: ReadonlyMap<string, readonly Range[]> = new Map();
  /** Sum of squared distances from the mean. */
  readonly #squares: Float64Array;

  constructor(width: number) {
    this.min = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
    this.max = new Float64Array(width).fill(Number.NEGATIVE_INFINITY);
    this.mean = new Float64Array(width);
    this.#squares = new Float64Array(width);
  }

  add(value: unknown): void {
    this.count++;
    const width = Math.min(this.mean.length, widthOf(value));
    for (let i = 0; i < width; i++) {
      const x = valueAt(value, i);
      const distance = x - this.mean[i]!;
      this.min[i] = Math.min(this.min[i]!, x);
      this.max[i] = Math.max(this.max[i]!, x);
      this.mean[i] = this.mean[i]! + distance / this.count;
      this.#squares[i] = this.#squares[i]! + distance * (x - this.mean[i]!);
    }
  }

  std(i: number): number {
    return Math.sqrt(Math.max(0, this.#squares[i]!) / Math.max(1, this.count));
  }

  /** Adds everything another one has seen. */
  merge(other: Moments): void {
    const total = this.count + other.count;
    if (other.count === 0) return;
    for (let i = 0; i < this.mean.length; i++) {
      const distance = other.mean[i]! - this.mean[i]!;
      this.min[i] = Math.min(this.min[i]!, other.min[i]!);
      this.max[i] = Math.max(this.max[i]!, other.max[i]!);
      this.mean[i] = this.mean[i]! + (distance * other.count) / total;
      this.#squares[i] =
        this.#squares[i]! + other.#squares[i]! + (distance ** 2 * this.count * other.count) / total;
    }
    this.count = total;
  }
}
