import { Opcode } from '@mcap/core';

/** Every record starts with one opcode byte and the length of its body. */
export const PREFIX_BYTES = 9;
export const MAGIC = Uint8Array.from([0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a]);
export { Opcode };

const utf8 = new TextDecoder('utf-8');

/**
 * Reads the fields of a record's body. Files are untrusted, so nothing throws: a read past the end sets `ok`
 * to false permanently, and every further value is zero or empty.
 */
export class FieldReader {
  ok = true;
  at: number;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = at;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.at;
  }

  #take(count: number): number {
    const { at } = this;
    if (!this.ok || count < 0 || at + count > this.#end) {
      this.ok = false;
      return -1;
    }
    this.at += count;
    return at;
  }

  u8(): number {
    const at = this.#take(1);
    return at < 0 ? 0 : this.#bytes[at]!;
  }

  u16(): number {
    const at = this.#take(2);
    return at < 0 ? 0 : this.#view.getUint16(at, true);
  }

  u32(): number {
    const at = this.#take(4);
    return at < 0 ? 0 : this.#view.getUint32(at, true);
  }

  u64(): bigint {
    const at = this.#take(8);
    return at < 0 ? 0n : this.#view.getBigUint64(at, true);
  }

  /** A length or an offset: no file exceeds what a number can hold. */
  size(): number {
    return Number(this.u64());
  }

  /** A view, no copy. */
  bytes(count: number): Uint8Array {
    const at = this.#take(count);
    return at < 0 ? new Uint8Array(0) : this.#bytes.subarray(at, at + count);
  }

  string(): string {
    return utf8.decode(this.bytes(this.u32()));
  }

  strings(): Map<string, string> {
    const end = this.at + 4 + this.u32();
    const found = new Map<string, string>();
    while (this.ok && this.at < end) found.set(this.string(), this.string());
    return found;
  }
}

export interface SchemaRecord {
  id: number;
  name: string;
  encoding: string;
  data: Uint8Array;
}

export interface ChannelRecord {
  id: number;
  schemaId: number;
  topic: string;
  messageEncoding: string;
  metadata: Map<string, string>;
}

export interface MessageRecord {
  channelId: number;
  sequence: number;
  logTime: bigint;
  publishTime: bigint;
  /** A view on the bytes it was read from. */
  data: Uint8Array;
}

export interface ChunkHead {
  startTime: bigint;
  endTime: bigint;
  uncompressedBytes: number;
  crc: number;
  compression: string;
  /** A view on the bytes it was read from. */
  records: Uint8Array;
}

export interface ChunkEntry {
  offset: number;
  /** Length of the whole record, including its prefix. */
  length: number;
  startTime: bigint;
  endTime: bigint;
  /** Number of messages per channel; −1 where the index does not include it. */
  channels: Map<number, number>;
}

export function readSchema(body: Uint8Array): SchemaRecord | null {
  const from = new FieldReader(body);
  const id = from.u16();
  const name = from.string();
  const encoding = from.string();
  const data = from.bytes(from.u32()).slice();
  return from.ok ? { id, name, encoding, data } : null;
}

export function readChannel(body: Uint8Array): ChannelRecord | null {
  const from = new FieldReader(body);
  const id = from.u16();
  const schemaId = from.u16();
  const topic = from.string();
  const messageEncoding = from.string();
  const metadata = from.strings();
  return from.ok ? { id, schemaId, topic, messageEncoding, metadata } : null;
}

export function readMessage(body: Uint8Array): MessageRecord | null {
  const from = new FieldReader(body);
  const channelId = from.u16();
  const sequence = from.u32();
  const logTime = from.u64();
  const publishTime = from.u64();
  return from.ok ? { channelId, sequence, logTime, publishTime, data: from.bytes(from.left) } : null;
}

export function readChunk(body: Uint8Array): ChunkHead | null {
  const from = new FieldReader(body);
  const startTime = from.u64();
  const endTime = from.u64();
  const uncompressedBytes = from.size();
  const crc = from.u32();
  const compression = from.string();
  const records = from.bytes(from.size());
  return from.ok ? { startTime, endTime, uncompressedBytes, crc, compression, records } : null;
}

export function readChunkIndex(body: Uint8Array): ChunkEntry | null {
  const from = new FieldReader(body);
  const startTime = from.u64();
  const endTime = from.u64();
  const offset = from.size();
  const length = from.size();
  const channels = new Map<number, number>();
  const end = from.at + 4 + from.u32();
  while (from.ok && from.at < end) {
    channels.set(from.u16(), -1);
    from.u64();
  }
  return from.ok ? { offset, length, startTime, endTime, channels } : null;
}

export function readMetadata(body: Uint8Array): { name: string; metadata: Map<string, string> } | null {
  const from = new FieldReader(body);
  const name = from.string();
  const metadata = from.strings();
  return from.ok ? { name, metadata } : null;
}

/** The records of an uncompressed chunk or of a summary; ends at the first incomplete one. */
export function* recordsIn(bytes: Uint8Array): Generator<{ opcode: number; body: Uint8Array; at: number }> {
  const from = new FieldReader(bytes);
  while (from.left >= PREFIX_BYTES) {
    const { at } = from;
    const opcode = from.u8();
    const body = from.bytes(from.size());
    if (!from.ok) return;
    yield { opcode, body, at };
  }
}

export function* messagesIn(chunk: Uint8Array): Generator<MessageRecord> {
  for (const { opcode, body } of recordsIn(chunk)) {
    const message = opcode === Opcode.MESSAGE ? readMessage(body) : null;
    if (message !== null) yield message;
  }
}
