import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { TeleopError } from '../../core/errors.ts';
import {
  type ChannelRecord,
  type ChunkEntry,
  FieldReader,
  MAGIC,
  type MessageRecord,
  messagesIn,
  Opcode,
  PREFIX_BYTES,
  readChannel,
  readChunk,
  readChunkIndex,
  readMetadata,
  readSchema,
  recordsIn,
  type SchemaRecord,
} from './records.ts';

const FOOTER_BYTES = PREFIX_BYTES + 20 + MAGIC.length;
/** A larger length field means damage. */
const MAX_RECORD_BYTES = 1 << 30;
/** Negligible beside a chunk, enough for a hundred small records. */
const PEEK_BYTES = 4096;
/** The summary is read in one piece. */
const MAX_SUMMARY_BYTES = 1 << 30;

/** Reaches up to the length of the chunk's records, for any compression name. */
const CHUNK_HEAD_BYTES = 128;
const MESSAGE_HEAD_BYTES = 22;

export interface MessageHead {
  channelId: number;
  sequence: number;
  dataOffset: number;
  dataBytes: number;
  head: Uint8Array;
}

export interface McapIndex {
  /** The file has its footer and summary. */
  complete: boolean;
  schemas: Map<number, SchemaRecord>;
  channels: Map<number, ChannelRecord>;
  chunks: ChunkEntry[];
  /** By name; the last one wins. */
  metadata: Map<string, Map<string, string>>;
}

/** A file open for reading. Blocking, with small reads. */
export class McapFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Bytes read so far; tests measure the cost with it. */
  readBytes = 0;
  #peeked: Uint8Array = new Uint8Array(0);
  #peekedAt = 0;
  readonly #fd: number;

  constructor(path: string) {
    this.path = path;
    try {
      this.#fd = openSync(path, 'r');
      if (fstatSync(this.#fd).isDirectory()) {
        closeSync(this.#fd);
        throw new Error('it is a folder');
      }
    } catch (cause) {
      const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
      throw new TeleopError(
        missing ? 'file-missing' : 'file-unreadable',
        `recording ${path} ${missing ? 'does not exist' : `cannot be read: ${(cause as Error).message}`}`,
        { hint: 'List the recordings with `farhand record list`.', cause },
      );
    }
    this.sizeBytes = fstatSync(this.#fd).size;
  }

  /** Returns fewer than `length` bytes at the end of the file. */
  read(offset: number, length: number): Uint8Array {
    // Not from Node's pool: callers may use the underlying buffer.
    const bytes = new Uint8Array(
      Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, this.sizeBytes - offset))).buffer,
    );
    this.readBytes += bytes.length;
    let taken = 0;
    while (taken < bytes.length) {
      const count = readSync(this.#fd, bytes, taken, bytes.length - taken, offset + taken);
      if (count === 0) return bytes.subarray(0, taken);
      taken += count;
    }
    return bytes;
  }

  /** Like `read` for a few bytes, without a system call for each; the view is valid until the next call. */
  peek(offset: number, length: number): Uint8Array {
    if (offset < this.#peekedAt || offset + length > this.#peekedAt + this.#peeked.length) {
      this.#peeked = this.read(offset, PEEK_BYTES);
      this.#peekedAt = offset;
    }
    return this.#peeked.subarray(offset - this.#peekedAt, offset - this.#peekedAt + length);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** From the summary, or without one from a walk over the record headers. `hasChunks`: false leaves them out. */
  index(hasChunks = true): McapIndex {
    const start = this.read(0, MAGIC.length);
    if (!isMagic(start))
      throw new TeleopError('file-unreadable', `${this.path} is not an MCAP file`, {
        hint: 'Recordings end in .mcap or .mcap.part.',
      });
    const summary = this.summary(hasChunks);
    return summary !== null && this.#canHold(summary.chunks) ? summary : this.#walk();
  }

  /** True if the chunks lie inside the file and do not overlap, so that no byte is read twice. */
  #canHold(chunks: readonly ChunkEntry[]): boolean {
    let total = 0;
    for (const { offset, length } of chunks) {
      total += length;
      if (length < PREFIX_BYTES || offset + length > this.sizeBytes || total > this.sizeBytes) return false;
    }
    return true;
  }

  /** From the summary only; null if the file has none. */
  summary(hasChunks = true): McapIndex | null {
    if (this.sizeBytes < FOOTER_BYTES) return null;
    const end = this.read(this.sizeBytes - FOOTER_BYTES, FOOTER_BYTES);
    if (end.length < FOOTER_BYTES || !isMagic(end.subarray(-MAGIC.length)) || end[0] !== Opcode.FOOTER)
      return null;
    const summaryStart = new FieldReader(end, PREFIX_BYTES).size();
    if (summaryStart === 0 || summaryStart > this.sizeBytes) return null;
    if (this.sizeBytes - summaryStart > MAX_SUMMARY_BYTES) return null;
    const index = emptyIndex(true);
    let metadataBytes = 0;
    for (const { opcode, body } of recordsIn(
      this.read(summaryStart, this.sizeBytes - FOOTER_BYTES - summaryStart),
    )) {
      noteDeclaration(index, opcode, body);
      if (opcode === Opcode.CHUNK_INDEX) {
        const chunk = hasChunks ? readChunkIndex(body) : null;
        if (chunk !== null) index.chunks.push(chunk);
      } else if (opcode === Opcode.METADATA_INDEX) {
        const from = new FieldReader(body);
        const [offset, length] = [from.size(), from.size()];
        metadataBytes += length;
        if (metadataBytes <= this.sizeBytes) this.#metadataAt(index, offset, length);
      }
    }
    return index;
  }

  #metadataAt(index: McapIndex, offset: number, length: number): void {
    if (length > MAX_RECORD_BYTES) return;
    for (const { opcode, body } of recordsIn(this.read(offset, length))) noteMetadata(index, opcode, body);
  }

  #walk(): McapIndex {
    const index = emptyIndex(false);
    let offset = MAGIC.length;
    for (;;) {
      const head = new FieldReader(this.peek(offset, PREFIX_BYTES));
      const opcode = head.u8();
      const length = head.size();
      const whole = head.ok && length <= MAX_RECORD_BYTES && offset + PREFIX_BYTES + length <= this.sizeBytes;
      if (!whole || opcode === Opcode.DATA_END || opcode === Opcode.FOOTER) return index;
      this.#walked(index, opcode, offset, length);
      offset += PREFIX_BYTES + length;
    }
  }

  #walked(index: McapIndex, opcode: number, offset: number, length: number): void {
    const bodyAt = offset + PREFIX_BYTES;
    if (opcode === Opcode.CHUNK) {
      const from = new FieldReader(this.peek(bodyAt, 16));
      const entry = { offset, length: PREFIX_BYTES + length, startTime: from.u64(), endTime: from.u64() };
      index.chunks.push({ ...entry, channels: new Map() });
    } else if (opcode === Opcode.MESSAGE_INDEX) {
      const from = new FieldReader(this.peek(bodyAt, 6));
      index.chunks.at(-1)?.channels.set(from.u16(), from.u32() / 16);
    } else {
      const body = this.read(bodyAt, length);
      noteDeclaration(index, opcode, body);
      noteMetadata(index, opcode, body);
    }
  }

  /** Where the messages of an uncompressed chunk are, and their first bytes; pictures are not read. */
  *heads(chunk: ChunkEntry, headBytes: number): Generator<MessageHead> {
    const from = new FieldReader(this.read(chunk.offset + PREFIX_BYTES, CHUNK_HEAD_BYTES));
    from.bytes(28);
    const compression = from.string();
    const end = chunk.offset + chunk.length;
    let offset = chunk.offset + PREFIX_BYTES + from.at + 8;
    if (!from.ok || compression !== '') return;
    while (offset + PREFIX_BYTES <= end) {
      const bytes = this.read(offset, PREFIX_BYTES + MESSAGE_HEAD_BYTES + headBytes);
      const record = new FieldReader(bytes);
      const opcode = record.u8();
      const length = record.size();
      if (!record.ok || offset + PREFIX_BYTES + length > end) return;
      const channelId = record.u16();
      const sequence = record.u32();
      if (opcode === Opcode.MESSAGE && length >= MESSAGE_HEAD_BYTES)
        yield {
          channelId,
          sequence,
          dataOffset: offset + PREFIX_BYTES + MESSAGE_HEAD_BYTES,
          dataBytes: length - MESSAGE_HEAD_BYTES,
          head: bytes.subarray(PREFIX_BYTES + MESSAGE_HEAD_BYTES, PREFIX_BYTES + length),
        };
      offset += PREFIX_BYTES + length;
    }
  }

  /** All messages of a chunk; none if it is incomplete. */
  *messages(chunk: ChunkEntry): Generator<MessageRecord> {
    const head = readChunk(this.read(chunk.offset + PREFIX_BYTES, chunk.length - PREFIX_BYTES));
    if (head !== null && head.compression === '') yield* messagesIn(head.records);
  }
}

export const isMagic = (bytes: Uint8Array): boolean =>
  bytes.length === MAGIC.length && MAGIC.every((byte, i) => bytes[i] === byte);

const emptyIndex = (complete: boolean): McapIndex => ({
  complete,
  schemas: new Map(),
  channels: new Map(),
  chunks: [],
  metadata: new Map(),
});

export function noteDeclaration(
  index: Pick<McapIndex, 'schemas' | 'channels'>,
  opcode: number,
  body: Uint8Array,
): void {
  if (opcode === Opcode.SCHEMA) {
    const schema = readSchema(body);
    if (schema !== null) index.schemas.set(schema.id, schema);
  } else if (opcode === Opcode.CHANNEL) {
    const channel = readChannel(body);
    if (channel !== null) index.channels.set(channel.id, channel);
  }
}

function noteMetadata(index: McapIndex, opcode: number, body: Uint8Array): void {
  if (opcode !== Opcode.METADATA) return;
  const found = readMetadata(body);
  if (found !== null) index.metadata.set(found.name, found.metadata);
}
