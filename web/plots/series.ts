/** The last samples of several curves, in one block that is never reallocated. Hot path: `add` allocates nothing. */
export class Series {
  readonly curves: number;
  readonly capacity: number;
  readonly #values: Float32Array;
  readonly #timesS: Float64Array;
  #next = 0;
  #count = 0;

  constructor(curves: number, capacity: number) {
    this.curves = curves;
    this.capacity = capacity;
    this.#values = new Float32Array(curves * capacity);
    this.#timesS = new Float64Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** NaN: not known at that instant. */
  add(timeS: number, values: ArrayLike<number | null>): void {
    this.#timesS[this.#next] = timeS;
    for (let i = 0; i < this.curves; i++)
      this.#values[i * this.capacity + this.#next] = values[i] ?? Number.NaN;
    this.#next = (this.#next + 1) % this.capacity;
    this.#count = Math.min(this.capacity, this.#count + 1);
  }

  /** `at` 0: the oldest. */
  timeS(at: number): number {
    return this.#timesS[this.#place(at)]!;
  }

  value(curve: number, at: number): number {
    return this.#values[curve * this.capacity + this.#place(at)]!;
  }

  #place(at: number): number {
    return (this.#next - this.#count + at + this.capacity) % this.capacity;
  }
}
