import { crc32 } from 'node:zlib';
import { isMagic, type McapFile, noteDeclaration } from './index-reader.ts';
import {
  type ChannelRecord,
  type ChunkHead,
  FieldReader,
  MAGIC,
  type MessageRecord,
  Opcode,
  PREFIX_BYTES,
  readChunk,
  readMessage,
  readMetadata,
  recordsIn,
  type SchemaRecord,
} from './records.ts';

/** No chunk of a recording comes near this size; a larger length is damage. */
export const MAX_CHUNK_BYTES = 64 * 2 ** 20;
const CHUNK_HEAD_BYTES = 40;
/** The next chunk is nearly always close; a longer search reads larger blocks. */
const FIRST_SEARCH_BYTES = 512;
const MAX_SEARCH_BYTES = 1 << 20;
const END = -2;
/**
 * Limit of useless reads, as a multiple of the file size: a damaged chunk costs its length once, so a normal
 * file stays below twice its size. A file of headers that each claim the rest of the file would cost its size
 * for each header.
 */
const MAX_WASTE = 4;

/** What was found intact in a file, and what was not. */
export interface Scanned {
  keptChunks: number;
  keptMessages: number;
  damagedChunks: number;
  /** Bytes that could not be read as records. */
  damagedBytes: number;
  /** Bytes after the last complete record. */
  truncatedBytes: number;
  /** Bytes not examined because too much before them was forged to look like chunks. */
  unsearchedBytes: number;
  hadEnd: boolean;
}

/** Location of a record. */
export interface Place {
  offset: number;
  /** Including its prefix. */
  length: number;
}

export interface FoundChunk {
  chunk: ChunkHead;
  crc: number;
  /** Per channel: log time and offset of every message whose channel is known. */
  indices: Map<number, [bigint, bigint][]>;
}

/** Receives everything intact, in file order. Views are only valid during the call. */
export interface ScanSink {
  metadata(name: string, metadata: Map<string, string>, place: Place): void;
  /** Every message of a chunk, before the chunk itself. */
  message(message: MessageRecord, channel: ChannelRecord): void;
  chunk(found: FoundChunk, place: Place): void;
  messageIndex(channelId: number, place: Place): void;
}

/**
 * Walks through a file once, with one chunk in memory at a time. A chunk is valid if its checksum matches;
 * after damage the walk continues at the next valid chunk. Blocking.
 */
export class Scanner {
  readonly schemas = new Map<number, SchemaRecord>();
  readonly channels = new Map<number, ChannelRecord>();
  readonly #file: McapFile;
  readonly #sink: ScanSink;
  #wastedBytes = 0;
  readonly #found: Scanned = {
    keptChunks: 0,
    keptMessages: 0,
    damagedChunks: 0,
    damagedBytes: 0,
    truncatedBytes: 0,
    unsearchedBytes: 0,
    hadEnd: false,
  };

  constructor(file: McapFile, sink: ScanSink) {
    this.#file = file;
    this.#sink = sink;
  }

  run(): Scanned {
    const { sizeBytes } = this.#file;
    this.#declareFromEnd();
    let offset = isMagic(this.#file.read(0, MAGIC.length)) ? MAGIC.length : 0;
    while (offset < sizeBytes) {
      const next = this.#record(offset);
      if (next === END) break;
      if (next > offset) {
        offset = next;
        continue;
      }
      const found = this.#nextChunk(offset + 1);
      if (this.#isWasteful) {
        this.#found.unsearchedBytes = sizeBytes - offset;
        break;
      }
      if (found < 0) this.#found.truncatedBytes += sizeBytes - offset;
      else this.#found.damagedBytes += found - offset;
      offset = found < 0 ? sizeBytes : found;
    }
    return this.#found;
  }

  get #isWasteful(): boolean {
    return this.#wastedBytes > MAX_WASTE * this.#file.sizeBytes;
  }

  /** The offset after the record at `offset`; the same offset if there is none. */
  #record(offset: number): number {
    const head = new FieldReader(this.#file.peek(offset, PREFIX_BYTES + 2));
    const opcode = head.u8();
    const length = head.size();
    const next = offset + PREFIX_BYTES + length;
    if (!head.ok || !isOpcode(opcode) || length > MAX_CHUNK_BYTES || next > this.#file.sizeBytes)
      return offset;
    if (opcode === Opcode.DATA_END || opcode === Opcode.FOOTER) {
      this.#found.hadEnd = true;
      return END;
    }
    const place = { offset, length: PREFIX_BYTES + length };
    if (opcode === Opcode.MESSAGE_INDEX) this.#sink.messageIndex(head.u16(), place);
    if (opcode === Opcode.MESSAGE_INDEX || opcode === Opcode.HEADER) return next;
    const body = this.#file.read(offset + PREFIX_BYTES, length);
    if (opcode !== Opcode.CHUNK) {
      this.#other(opcode, body, place);
      return next;
    }
    if (this.#chunk(body, place)) return next;
    this.#found.damagedChunks++;
    this.#wastedBytes += length;
    // Its length may be part of the damage.
    return this.#isRecordAt(next) ? next : offset;
  }

  #isRecordAt(offset: number): boolean {
    const head = new FieldReader(this.#file.peek(offset, PREFIX_BYTES));
    const opcode = head.u8();
    return head.left === 8 && isOpcode(opcode) && offset + PREFIX_BYTES + head.size() <= this.#file.sizeBytes;
  }

  #other(opcode: number, body: Uint8Array, place: Place): void {
    noteDeclaration(this, opcode, body);
    const found = opcode === Opcode.METADATA ? readMetadata(body) : null;
    if (found !== null) this.#sink.metadata(found.name, found.metadata, place);
  }

  /** True if the chunk is intact. */
  #chunk(body: Uint8Array, place: Place): boolean {
    const chunk = readChunk(body);
    if (chunk === null || chunk.compression !== '' || chunk.uncompressedBytes !== chunk.records.length)
      return false;
    const crc = crc32(chunk.records);
    if (chunk.crc !== 0 && crc !== chunk.crc) return false;
    const indices = new Map<number, [bigint, bigint][]>();
    for (const { opcode, body: record, at } of recordsIn(chunk.records)) {
      noteDeclaration(this, opcode, record);
      const message = opcode === Opcode.MESSAGE ? readMessage(record) : null;
      const channel = message === null ? undefined : this.channels.get(message.channelId);
      if (message === null || channel === undefined) continue;
      const index = indices.get(channel.id) ?? [];
      index.push([message.logTime, BigInt(at)]);
      indices.set(channel.id, index);
      this.#found.keptMessages++;
      this.#sink.message(message, channel);
    }
    this.#found.keptChunks++;
    this.#sink.chunk({ chunk, crc, indices }, place);
    return true;
  }

  /** The summary repeats schemas and channels; use it in case the start of the file is lost. */
  #declareFromEnd(): void {
    const index = this.#file.summary();
    for (const schema of index?.schemas.values() ?? []) this.schemas.set(schema.id, schema);
    for (const channel of index?.channels.values() ?? []) this.channels.set(channel.id, channel);
  }

  /** Start of the next chunk with a matching checksum; −1 if there is none. */
  #nextChunk(from: number): number {
    let window = FIRST_SEARCH_BYTES;
    for (let start = from; start < this.#file.sizeBytes; ) {
      const bytes = this.#file.read(start, window + PREFIX_BYTES + CHUNK_HEAD_BYTES);
      let at = bytes.indexOf(Opcode.CHUNK);
      for (; at >= 0 && at < window; at = bytes.indexOf(Opcode.CHUNK, at + 1)) {
        if (this.#looksWhole(start + at, bytes.subarray(at + 1))) return start + at;
        if (this.#isWasteful) return -1;
      }
      start += window;
      window = Math.min(2 * window, MAX_SEARCH_BYTES);
    }
    return -1;
  }

  /** For uncompressed chunks three lengths agree; only then is the checksum worth computing. */
  #looksWhole(offset: number, after: Uint8Array): boolean {
    const head = new FieldReader(after);
    const length = head.size();
    head.bytes(16);
    const records = head.size();
    head.u32();
    const isPlain = head.u32() === 0 && head.size() === records && length === records + CHUNK_HEAD_BYTES;
    if (!head.ok || !isPlain || length > MAX_CHUNK_BYTES) return false;
    if (offset + PREFIX_BYTES + length > this.#file.sizeBytes) return false;
    const chunk = readChunk(this.#file.read(offset + PREFIX_BYTES, length));
    if (chunk !== null && crc32(chunk.records) === chunk.crc) return true;
    this.#wastedBytes += length;
    return false;
  }
}

const isOpcode = (opcode: number): boolean => opcode >= Opcode.MIN && opcode <= Opcode.MAX;
