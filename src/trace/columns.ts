/**
 * A growable column of numbers, kept exactly. Costs 4 bytes a value while values are whole and within ±2³¹ (2.1 s in
 * nanoseconds) or NaN; a chunk that meets any other value turns into 8 bytes each.
 */
export class Column {
  readonly #chunks: (Int32Array | Float64Array)[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const at = this.#length % CHUNK;
    if (at === 0) this.#chunks.push(new Int32Array(CHUNK));
    const last = this.#chunks.length - 1;
    if (!fits(value) && this.#chunks[last] instanceof Int32Array)
      this.#chunks[last] = widen(this.#chunks[last]);
    const chunk = this.#chunks[last]!;
    chunk[at] = chunk instanceof Int32Array && Number.isNaN(value) ? UNKNOWN : value;
    this.#length++;
  }

  /** A copy, in the order of arrival or of the indices given. */
  toFloat64(order: Uint32Array | null = null): Float64Array {
    const out = new Float64Array(this.#length);
    for (let i = 0; i < out.length; i++) out[i] = this.#at(order === null ? i : order[i]!);
    return out;
  }

  #at(i: number): number {
    const chunk = this.#chunks[Math.floor(i / CHUNK)]!;
    const value = chunk[i % CHUNK]!;
    return value === UNKNOWN && chunk instanceof Int32Array ? Number.NaN : value;
  }
}

const CHUNK = 16_384;
const UNKNOWN = -(2 ** 31);

function fits(value: number): boolean {
  return Number.isNaN(value) || ((value | 0) === value && value !== UNKNOWN);
}

function widen(chunk: Int32Array): Float64Array {
  return Float64Array.from(chunk, (value) => (value === UNKNOWN ? Number.NaN : value));
}
