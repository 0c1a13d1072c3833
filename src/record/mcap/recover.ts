import { crc32 } from 'node:zlib';
import { McapFileWriter } from './file-writer.ts';
import { isMagic, McapFile, noteDeclaration } from './index-reader.ts';
import {
  type ChannelRecord,
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

/** No chunk of a recording is near this; a length beyond it is damage. */
const MAX_CHUNK_BYTES = 64 * 2 ** 20;
const CHUNK_HEAD_BYTES = 40;
/** Of the summary, which names schemas and channels once more. */
const SEARCH_BYTES = 1 << 20;

/** What a recovery kept and what it did not. */
export interface Recovered {
  keptChunks: number;
  keptMessages: number;
  damagedChunks: number;
  /** In places that could not be read as records. */
  damagedBytes: number;
  /** After the last whole record. */
  truncatedBytes: number;
  hadEnd: boolean;
}

export interface RecoverHooks {
  /** Of metadata, which may come twice. */
  onMetadata?: (name: string, metadata: ReadonlyMap<string, string>) => void;
  /** Every message that is kept, in the file's order; `data` is only valid during the call. */
  onMessage?: (message: MessageRecord, channels: ReadonlyMap<number, ChannelRecord>) => void;
  /** Metadata to leave out of the new file. */
  isOutdated?: (name: string) => boolean;
  /** Called before the new file is ended. */
  beforeEnd?: (file: McapFileWriter, found: Recovered) => void;
}

/**
 * Copies what is whole of an MCAP file into a new one with indexes and summary. Reads the file once, front to back, one
 * chunk in memory at a time; a damaged chunk is left out, and after damage it looks for the next chunk whose check sum
 * is right. Blocking.
 */
export function recoverMcap(
  path: string,
  into: string,
  library: string,
  hooks: RecoverHooks = {},
): Recovered {
  const file = new McapFile(path);
  try {
    const out = new McapFileWriter(into, { profile: 'ros2', library }, [MAX_CHUNK_BYTES]);
    try {
      const found = new Recovery(file, out, hooks).run();
      hooks.beforeEnd?.(out, found);
      out.end();
      return found;
    } finally {
      out.close();
    }
  } finally {
    file.close();
  }
}

class Recovery {
  readonly #file: McapFile;
  readonly #out: McapFileWriter;
  readonly #hooks: RecoverHooks;
  readonly #schemas = new Map<number, SchemaRecord>();
  readonly #channels = new Map<number, ChannelRecord>();
  readonly #written = new Set<number>();
  readonly #writtenSchemas = new Set<number>();
  readonly #found: Recovered = {
    keptChunks: 0,
    keptMessages: 0,
    damagedChunks: 0,
    damagedBytes: 0,
    truncatedBytes: 0,
    hadEnd: false,
  };

  constructor(file: McapFile, out: McapFileWriter, hooks: RecoverHooks) {
    this.#file = file;
    this.#out = out;
    this.#hooks = hooks;
  }

  run(): Recovered {
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
      if (found < 0) this.#found.truncatedBytes += sizeBytes - offset;
      else this.#found.damagedBytes += found - offset;
      offset = found < 0 ? sizeBytes : found;
    }
    return this.#found;
  }

  /** The offset after the record at `offset`; the same offset where there is none. */
  #record(offset: number): number {
    const head = new FieldReader(this.#file.read(offset, PREFIX_BYTES));
    const opcode = head.u8();
    const length = head.size();
    const next = offset + PREFIX_BYTES + length;
    if (!head.ok || !isOpcode(opcode) || length > MAX_CHUNK_BYTES || next > this.#file.sizeBytes)
      return offset;
    if (opcode === Opcode.DATA_END || opcode === Opcode.FOOTER) {
      this.#found.hadEnd = true;
      return END;
    }
    if (opcode === Opcode.MESSAGE_INDEX || opcode === Opcode.HEADER) return next;
    const body = this.#file.read(offset + PREFIX_BYTES, length);
    if (opcode !== Opcode.CHUNK) {
      this.#other(opcode, body);
      return next;
    }
    if (this.#chunk(body)) return next;
    this.#found.damagedChunks++;
    // Its length may be part of the damage.
    return this.#isRecordAt(next) ? next : offset;
  }

  #isRecordAt(offset: number): boolean {
    const head = new FieldReader(this.#file.read(offset, PREFIX_BYTES));
    const opcode = head.u8();
    return head.left === 8 && isOpcode(opcode) && offset + PREFIX_BYTES + head.size() <= this.#file.sizeBytes;
  }

  #other(opcode: number, body: Uint8Array): void {
    noteDeclaration({ schemas: this.#schemas, channels: this.#channels }, opcode, body);
    if (opcode !== Opcode.METADATA) return;
    const found = readMetadata(body);
    if (found === null) return;
    this.#hooks.onMetadata?.(found.name, found.metadata);
    if (this.#hooks.isOutdated?.(found.name) !== true)
      this.#out.metadata(found.name, Object.fromEntries(found.metadata));
  }

  /** True when the chunk was whole and is in the new file. */
  #chunk(body: Uint8Array): boolean {
    const chunk = readChunk(body);
    if (chunk === null || chunk.compression !== '' || chunk.uncompressedBytes !== chunk.records.length)
      return false;
    const crc = crc32(chunk.records);
    if (chunk.crc !== 0 && crc !== chunk.crc) return false;
    const indices = new Map<number, [bigint, bigint][]>();
    for (const { opcode, body: record, at } of recordsIn(chunk.records)) {
      noteDeclaration({ schemas: this.#schemas, channels: this.#channels }, opcode, record);
      const message = opcode === Opcode.MESSAGE ? readMessage(record) : null;
      if (message === null || !this.#declare(message.channelId)) continue;
      const index = indices.get(message.channelId) ?? [];
      index.push([message.logTime, BigInt(at)]);
      indices.set(message.channelId, index);
      this.#found.keptMessages++;
      this.#hooks.onMessage?.(message, this.#channels);
    }
    this.#found.keptChunks++;
    this.#out.chunk({
      messageStartTime: chunk.startTime,
      messageEndTime: chunk.endTime,
      records: chunk.records,
      crc,
      indices: [...indices].map(([channelId, records]) => ({ channelId, records })),
    });
    return true;
  }

  /** A channel stands before its first message. */
  #declare(channelId: number): boolean {
    if (this.#written.has(channelId)) return true;
    const channel = this.#channels.get(channelId);
    if (channel === undefined) return false;
    const schema = this.#schemas.get(channel.schemaId);
    if (schema !== undefined && !this.#writtenSchemas.has(schema.id)) {
      this.#writtenSchemas.add(schema.id);
      this.#out.addSchema(schema);
    }
    this.#written.add(channelId);
    this.#out.addChannel(channel, 0);
    return true;
  }

  /** The summary at the end names schemas and channels again, and says what the file is of: the start may be lost. */
  #declareFromEnd(): void {
    const index = this.#file.summary();
    for (const schema of index?.schemas.values() ?? []) this.#schemas.set(schema.id, schema);
    for (const channel of index?.channels.values() ?? []) this.#channels.set(channel.id, channel);
    for (const [name, metadata] of index?.metadata ?? []) this.#hooks.onMetadata?.(name, metadata);
  }

  /** Where the next chunk begins whose check sum is right; −1 when there is none. */
  #nextChunk(from: number): number {
    for (let start = from; start < this.#file.sizeBytes; start += SEARCH_BYTES) {
      const window = Buffer.from(
        this.#file.read(start, SEARCH_BYTES + PREFIX_BYTES + CHUNK_HEAD_BYTES).buffer,
      );
      for (
        let at = window.indexOf(Opcode.CHUNK);
        at >= 0 && at < SEARCH_BYTES;
        at = window.indexOf(Opcode.CHUNK, at + 1)
      )
        if (this.#looksWhole(start + at, window.subarray(at + 1))) return start + at;
    }
    return -1;
  }

  /** Uncompressed, so its three lengths agree; then the sum is worth computing. */
  #looksWhole(offset: number, after: Uint8Array): boolean {
    const head = new FieldReader(after);
    const length = head.size();
    head.bytes(16);
    const records = head.size();
    head.u32();
    const isPlain = head.u32() === 0 && head.size() === records && length === records + CHUNK_HEAD_BYTES;
    if (!head.ok || !isPlain || offset + PREFIX_BYTES + length > this.#file.sizeBytes) return false;
    const chunk = readChunk(this.#file.read(offset + PREFIX_BYTES, length));
    return chunk !== null && crc32(chunk.records) === chunk.crc;
  }
}

const END = -2;
const isOpcode = (opcode: number): boolean => opcode >= Opcode.MIN && opcode <= Opcode.MAX;
