/**
 * Single-producer single-consumer ring of fixed-size float64 records in shared memory.
 * The producer never waits: a full ring drops the record and counts it.
 */
export class RecordRing {
  readonly buffer: SharedArrayBuffer;
  readonly fields: number;
  readonly capacity: number;
  readonly #heads: Int32Array; // [written, read, dropped], each counted modulo 2^31
  readonly #data: Float64Array;

  private constructor(buffer: SharedArrayBuffer, fields: number, capacity: number) {
    this.buffer = buffer;
    this.fields = fields;
    this.capacity = capacity;
    this.#heads = new Int32Array(buffer, 0, HEADER_BYTES / 4);
    this.#data = new Float64Array(buffer, HEADER_BYTES);
  }

  /** `capacity` must be a power of two, so that wrapped counters stay aligned with slots. */
  static create(fields: number, capacity: number): RecordRing {
    if (capacity < 2 || (capacity & (capacity - 1)) !== 0)
      throw new Error(`capacity ${capacity} is not a power of two`);
    const buffer = new SharedArrayBuffer(HEADER_BYTES + fields * capacity * 8);
    const header = new Int32Array(buffer, 0, HEADER_BYTES / 4);
    header[FIELDS] = fields;
    header[CAPACITY] = capacity;
    return new RecordRing(buffer, fields, capacity);
  }

  static attach(buffer: SharedArrayBuffer): RecordRing {
    const header = new Int32Array(buffer, 0, HEADER_BYTES / 4);
    return new RecordRing(buffer, header[FIELDS] ?? 0, header[CAPACITY] ?? 0);
  }

  /** Hot path. Copies `record`; false when the ring was full and the record is lost. */
  push(record: Float64Array): boolean {
    const written = Atomics.load(this.#heads, WRITTEN);
    const read = Atomics.load(this.#heads, READ);
    if (((written - read) & MASK) >= this.capacity) {
      Atomics.add(this.#heads, DROPPED, 1);
      return false;
    }
    this.#data.set(record, (written & (this.capacity - 1)) * this.fields);
    Atomics.store(this.#heads, WRITTEN, (written + 1) & MASK);
    return true;
  }

  /** Copies the oldest record into `out`; false when the ring is empty. */
  shift(out: Float64Array): boolean {
    const read = Atomics.load(this.#heads, READ);
    if (Atomics.load(this.#heads, WRITTEN) === read) return false;
    const start = (read & (this.capacity - 1)) * this.fields;
    for (let i = 0; i < this.fields; i++) out[i] = this.#data[start + i] ?? Number.NaN;
    Atomics.store(this.#heads, READ, (read + 1) & MASK);
    return true;
  }

  get length(): number {
    return (Atomics.load(this.#heads, WRITTEN) - Atomics.load(this.#heads, READ)) & MASK;
  }

  get dropped(): number {
    return Atomics.load(this.#heads, DROPPED);
  }
}

const HEADER_BYTES = 64;
const MASK = 0x7fffffff;
const WRITTEN = 0;
const READ = 1;
const DROPPED = 2;
const FIELDS = 3;
const CAPACITY = 4;
