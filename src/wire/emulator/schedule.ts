import { MAX_DATAGRAM_BYTES } from '../reactor.ts';

/** A datagram in flight. The buffer is reused once it has been taken out. */
export interface Scheduled {
  /** When to deliver it; at equal times the one inserted first goes first. */
  deliverNs: number;
  /** Insertion count. */
  order: number;
  arrivedNs: number;
  mapping: number;
  direction: number;
  length: number;
  readonly bytes: Uint8Array;
}

/** Datagrams by delivery time: a binary heap over preallocated buffers. A full one drops. Hot path. */
export class Schedule {
  readonly #heap: Scheduled[];
  #size = 0;
  #order = 0;

  constructor(capacity: number) {
    const memory = new ArrayBuffer(capacity * MAX_DATAGRAM_BYTES);
    this.#heap = Array.from({ length: capacity }, (_, i) => ({
      deliverNs: 0,
      order: 0,
      arrivedNs: 0,
      mapping: 0,
      direction: 0,
      length: 0,
      bytes: new Uint8Array(memory, i * MAX_DATAGRAM_BYTES, MAX_DATAGRAM_BYTES),
    }));
  }

  get length(): number {
    return this.#size;
  }

  /** Infinity when empty. */
  get nextNs(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : this.#heap[0]!.deliverNs;
  }

  /** Copies the bytes. False when there is no room: the datagram is dropped. */
  push(
    deliverNs: number,
    arrivedNs: number,
    mapping: number,
    direction: number,
    bytes: Uint8Array,
    length: number,
  ): boolean {
    if (this.#size === this.#heap.length) return false;
    const item = this.#heap[this.#size]!;
    item.deliverNs = deliverNs;
    item.order = this.#order++;
    item.arrivedNs = arrivedNs;
    item.mapping = mapping;
    item.direction = direction;
    item.length = length;
    for (let i = 0; i < length; i++) item.bytes[i] = bytes[i]!;
    this.#rise(this.#size++);
    return true;
  }

  /** The next datagram; valid until the next `push`. Null when empty. */
  shift(): Scheduled | null {
    if (this.#size === 0) return null;
    const first = this.#heap[0]!;
    this.#size--;
    this.#heap[0] = this.#heap[this.#size]!;
    this.#heap[this.#size] = first;
    this.#sink();
    return first;
  }

  #rise(at: number): void {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let first = at;
      if (left < this.#size && this.#isBefore(left, first)) first = left;
      if (right < this.#size && this.#isBefore(right, first)) first = right;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const first = this.#heap[a]!;
    const second = this.#heap[b]!;
    if (first.deliverNs !== second.deliverNs) return first.deliverNs < second.deliverNs;
    return first.order < second.order;
  }

  #swap(a: number, b: number): void {
    const item = this.#heap[a]!;
    this.#heap[a] = this.#heap[b]!;
    this.#heap[b] = item;
  }
}
