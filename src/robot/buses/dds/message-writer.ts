import { CdrWriter } from '../../../core/cdr.ts';
import { FLAG, PID, PROTOCOL_VERSION, SUBMESSAGE, VENDOR_ID } from './ids.ts';
import { putEntity, putParameter, putSentinel } from './parameter-list.ts';

export const MAX_MESSAGE_BYTES = 65_000;
export const MAX_SET_BITS = 256;
const HEADER_BYTES = 20;
const DATA_HEAD_BYTES = 16;
const FRACTIONS_PER_NS = 2 ** 32 / 1e9;

/** One change of a writer's topic. */
export interface Change {
  seq: number;
  /** With its encapsulation. */
  payload: Uint8Array;
  wallNs: number;
  /** Status bits if this is the key of a disposed instance, else 0. */
  gone: number;
}

/** Sequence numbers: all below `base` are settled, except `missing`. */
export interface SequenceSet {
  base: number;
  missing: readonly number[];
}

/** Builds one RTPS message, little-endian, in a buffer reused for the next one. */
export class MessageWriter {
  readonly #prefix: Uint8Array;
  readonly #out = new CdrWriter(new Uint8Array(MAX_MESSAGE_BYTES));

  constructor(prefix: Uint8Array) {
    this.#prefix = prefix;
  }

  get bytes(): Uint8Array {
    return this.#out.bytes;
  }

  /** 0 when it did not fit. */
  get length(): number {
    return this.#out.ok ? this.#out.length : 0;
  }

  begin(destination: Uint8Array | null): this {
    const out = this.#out;
    out.restart();
    for (const letter of 'RTPS') out.u8(letter.charCodeAt(0));
    for (const byte of [...PROTOCOL_VERSION, ...VENDOR_ID]) out.u8(byte);
    out.raw(this.#prefix);
    if (destination !== null) this.#submessage(SUBMESSAGE.infoDestination, 0, () => out.raw(destination));
    return this;
  }

  data(reader: number, writer: number, change: Change): this {
    const out = this.#out;
    this.#submessage(SUBMESSAGE.infoTimestamp, 0, () => {
      out.u32(Math.floor(change.wallNs / 1e9));
      out.u32(Math.floor((change.wallNs % 1e9) * FRACTIONS_PER_NS));
    });
    const flags = change.gone === 0 ? FLAG.data : FLAG.key | FLAG.inlineQos;
    return this.#submessage(SUBMESSAGE.data, flags, () => {
      out.u16(0);
      out.u16(DATA_HEAD_BYTES);
      putEntity(out, reader);
      putEntity(out, writer);
      this.#sequence(change.seq);
      if (change.gone !== 0) {
        // Always big-endian, whatever the rest is.
        putParameter(out, PID.statusInfo, () => out.raw(Uint8Array.of(0, 0, 0, change.gone)));
        putSentinel(out);
      }
      out.raw(change.payload);
    });
  }

  heartbeat(
    reader: number,
    writer: number,
    first: number,
    last: number,
    count: number,
    final: boolean,
  ): this {
    const out = this.#out;
    return this.#submessage(SUBMESSAGE.heartbeat, final ? FLAG.final : 0, () => {
      putEntity(out, reader);
      putEntity(out, writer);
      this.#sequence(first);
      this.#sequence(last);
      out.u32(count);
    });
  }

  acknack(reader: number, writer: number, set: SequenceSet, count: number, final: boolean): this {
    const out = this.#out;
    return this.#submessage(SUBMESSAGE.acknack, final ? FLAG.final : 0, () => {
      putEntity(out, reader);
      putEntity(out, writer);
      this.#set(set);
      out.u32(count);
    });
  }

  /** Everything from `from` up to `set.base`, and everything in the set, will never be sent. */
  gap(reader: number, writer: number, from: number, set: SequenceSet): this {
    const out = this.#out;
    return this.#submessage(SUBMESSAGE.gap, 0, () => {
      putEntity(out, reader);
      putEntity(out, writer);
      this.#sequence(from);
      this.#set(set);
    });
  }

  #submessage(kind: number, flags: number, write: () => void): this {
    const out = this.#out;
    out.align(4);
    out.u8(kind);
    out.u8(flags | FLAG.little);
    out.u16(0);
    const at = out.length;
    write();
    out.align(4);
    out.patchU16(at - 2, out.length - at);
    return this;
  }

  #sequence(seq: number): void {
    this.#out.i32(Math.floor(seq / 2 ** 32));
    this.#out.u32(seq % 2 ** 32);
  }

  #set({ base, missing }: SequenceSet): void {
    const out = this.#out;
    const last = missing.at(-1);
    const bits = last === undefined ? 0 : Math.min(MAX_SET_BITS, last - base + 1);
    this.#sequence(base);
    out.u32(bits);
    for (let word = 0; word < Math.ceil(bits / 32); word++) {
      let value = 0;
      for (const seq of missing) {
        const bit = seq - base - word * 32;
        if (bit >= 0 && bit < 32) value |= 1 << (31 - bit);
      }
      out.u32(value >>> 0);
    }
  }
}

/** Generous upper bound of a message's overhead. */
export const MESSAGE_OVERHEAD_BYTES = HEADER_BYTES + 16 + 12 + 32 + 32;
