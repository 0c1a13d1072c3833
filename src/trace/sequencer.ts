import {
  emptyTraceRecord,
  LOST_AFTER_NS,
  packTraceRecord,
  TRACE_FIELDS,
  type TraceRecord,
  unpackTraceRecord,
} from '../messages/trace-record.ts';

/** Sort key: session in order of appearance × this + sequence number. */
const SESSION_STEP = 2 ** 32;

export interface SequencerOptions {
  /**
   * Maximum number of held records. Default 4096: two seconds at 1 kHz, after which a lost command is closed.
   */
  capacity?: number;
  /** Live: a record whose predecessor is missing is released when the newest `sampledNs` is this much later. */
  holdNs?: number;
}

/** By then a lost command has been closed, also by a loop that is late. */
export const LIVE_HOLD_NS = LOST_AFTER_NS + 0.6e9;

const FIELDS = TRACE_FIELDS.length;

/**
 * Reorders records from closing order to send order: by session in order of appearance, then by sequence
 * number. Holds a bounded number of them; a record that comes even later is passed on immediately, out of
 * order.
 */
export class Sequencer {
  readonly #capacity: number;
  readonly #holdNs: number;
  readonly #onRecord: (record: TraceRecord, session: number) => void;
  readonly #sessions = new Map<number, number>();
  readonly #packed: Float64Array;
  /** Keys in ascending order from `#head` to `#tail`, with the slot of each record. */
  readonly #keys: Float64Array;
  readonly #slots: Int32Array;
  readonly #free: Int32Array;
  #freeCount: number;
  #head = 0;
  #tail = 0;
  #newestNs = Number.NEGATIVE_INFINITY;
  /** Key of the record released last. */
  #releasedKey = Number.NaN;
  readonly #record = emptyTraceRecord();

  /** The record passed to `onRecord` is reused. */
  constructor(onRecord: (record: TraceRecord, session: number) => void, options: SequencerOptions = {}) {
    const capacity = options.capacity ?? 4096;
    this.#capacity = capacity;
    this.#holdNs = options.holdNs ?? Number.POSITIVE_INFINITY;
    this.#onRecord = onRecord;
    this.#packed = new Float64Array((capacity + 1) * FIELDS);
    this.#keys = new Float64Array(2 * capacity + 2);
    this.#slots = new Int32Array(2 * capacity + 2);
    this.#free = Int32Array.from({ length: capacity + 1 }, (_, i) => i);
    this.#freeCount = capacity + 1;
  }

  push(record: TraceRecord): void {
    const slot = this.#free[--this.#freeCount]!;
    packTraceRecord(record, this.#packed.subarray(slot * FIELDS, (slot + 1) * FIELDS));
    this.#insert(this.#sessionOf(record.session) * SESSION_STEP + record.seq, slot);
    if (record.sampledNs > this.#newestNs) this.#newestNs = record.sampledNs;
    if (this.#tail - this.#head > this.#capacity) this.#shift();
    if (this.#holdNs === Number.POSITIVE_INFINITY) return;
    while (this.#head < this.#tail && this.#isDue()) this.#shift();
  }

  #isDue(): boolean {
    return (
      this.#keys[this.#head] === this.#releasedKey + 1 || this.#newestNs - this.#oldestNs() > this.#holdNs
    );
  }

  /** Passes on everything. */
  flush(): void {
    while (this.#head < this.#tail) this.#shift();
    this.#newestNs = Number.NEGATIVE_INFINITY;
  }

  #sessionOf(session: number): number {
    let index = this.#sessions.get(session);
    if (index === undefined) {
      index = this.#sessions.size;
      this.#sessions.set(session, index);
      // The live clock may restart with a new operator.
      if (this.#holdNs !== Number.POSITIVE_INFINITY) this.flush();
    }
    return index;
  }

  #oldestNs(): number {
    return this.#packed[this.#slots[this.#head]! * FIELDS + SAMPLED]!;
  }

  /** Nearly always at the end. */
  #insert(key: number, slot: number): void {
    if (this.#tail === this.#keys.length) this.#compact();
    let at = this.#tail++;
    while (at > this.#head && this.#keys[at - 1]! > key) {
      this.#keys[at] = this.#keys[at - 1]!;
      this.#slots[at] = this.#slots[at - 1]!;
      at--;
    }
    this.#keys[at] = key;
    this.#slots[at] = slot;
  }

  #compact(): void {
    this.#keys.copyWithin(0, this.#head, this.#tail);
    this.#slots.copyWithin(0, this.#head, this.#tail);
    this.#tail -= this.#head;
    this.#head = 0;
  }

  #shift(): void {
    const slot = this.#slots[this.#head]!;
    this.#releasedKey = this.#keys[this.#head]!;
    const session = Math.floor(this.#releasedKey / SESSION_STEP);
    this.#head++;
    unpackTraceRecord(this.#packed.subarray(slot * FIELDS, (slot + 1) * FIELDS), this.#record);
    this.#free[this.#freeCount++] = slot;
    this.#onRecord(this.#record, session);
  }
}

const SAMPLED = TRACE_FIELDS.indexOf('sampledNs');
