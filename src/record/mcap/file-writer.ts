import {
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  rmSync,
  writevSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { McapChunkBuilder, McapRecordBuilder } from '@mcap/core';
import { type ChannelRecord, Opcode, PREFIX_BYTES, type SchemaRecord } from './records.ts';

export interface McapMessage {
  channelId: number;
  sequence: number;
  timeNs: bigint;
  data: Uint8Array;
}

/** As stored in the summary of a file. */
export interface ChunkIndex {
  messageStartTime: bigint;
  messageEndTime: bigint;
  chunkStartOffset: bigint;
  chunkLength: bigint;
  messageIndexOffsets: Map<number, bigint>;
  messageIndexLength: bigint;
  compression: string;
  compressedSize: bigint;
  uncompressedSize: bigint;
}

export interface WholeChunk {
  messageStartTime: bigint;
  messageEndTime: bigint;
  records: Uint8Array;
  crc: number;
  /** Per channel: log time and offset of every message. */
  indices: Iterable<{ channelId: number; records: [bigint, bigint][] }>;
}

/**
 * Writes an MCAP file with blocking calls: run it on its own thread. The library's writer cannot flush a
 * chunk that is not full, so with little data it would keep seconds of it in memory. Messages are collected
 * in separate lanes of chunks, so that readers of numbers need not read pictures. Schemas and channels
 * precede the first chunk. Throws file system errors; the file is then intact up to its last flush, without
 * an end.
 */
export class McapFileWriter {
  readonly path: string;
  readonly #fd: number;
  readonly #records = new McapRecordBuilder();
  readonly #lanes: readonly Lane[];
  readonly #laneOf = new Map<number, Lane>();
  readonly #schemas: SchemaRecord[];
  readonly #channels: ChannelRecord[];
  readonly #chunks: ChunkIndex[];
  readonly #metadata: { name: string; offset: bigint; length: bigint }[];
  readonly #counts: Map<number, bigint>;
  /** False for a resumed file: its existing bytes were not checksummed. */
  readonly #sumsData: boolean;
  #startTime = 0n;
  #endTime = 0n;
  #crc = 0;
  #position = 0;
  #open = true;
  #syncing = false;
  #syncError: NodeJS.ErrnoException | null = null;

  constructor(
    path: string,
    header: { profile: string; library: string } | null,
    laneBytes: readonly number[],
    begun?: FileSoFar,
  ) {
    this.path = path;
    this.#lanes = laneBytes.map((bytes) => ({ chunk: new McapChunkBuilder({}), bytes }));
    this.#schemas = begun?.schemas ?? [];
    this.#channels = begun?.channels ?? [];
    this.#chunks = begun?.chunks ?? [];
    this.#metadata = begun?.metadata ?? [];
    this.#counts = begun?.counts ?? new Map();
    this.#sumsData = begun === undefined;
    this.#fd = openSync(path, begun === undefined ? 'wx' : 'r+', 0o644);
    if (header === null) return;
    this.#records.writeMagic();
    this.#records.writeHeader(header);
    try {
      this.#put();
    } catch (cause) {
      this.remove();
      throw cause;
    }
  }

  /** Continues a truncated file after `offset`, where its last complete record ends. */
  static resume(path: string, offset: number, begun: FileSoFar): McapFileWriter {
    const writer = new McapFileWriter(path, null, [MAX_LANE_BYTES], begun);
    ftruncateSync(writer.#fd, offset);
    writer.#position = offset;
    for (const { messageStartTime, messageEndTime } of begun.chunks) {
      if (writer.#startTime === 0n || messageStartTime < writer.#startTime)
        writer.#startTime = messageStartTime;
      if (messageEndTime > writer.#endTime) writer.#endTime = messageEndTime;
    }
    return writer;
  }

  /** Writes the message index of the last chunk, which the file lacks. */
  indexLastChunk(indices: ReadonlyMap<number, [bigint, bigint][]>): void {
    const last = this.#chunks.at(-1)!;
    last.messageIndexOffsets.clear();
    last.messageIndexLength = 0n;
    for (const [channelId, records] of indices) {
      last.messageIndexOffsets.set(channelId, BigInt(this.#position) + last.messageIndexLength);
      last.messageIndexLength += this.#records.writeMessageIndex({ channelId, records });
    }
    this.#put();
  }

  /** True once any message has been written to the file rather than only buffered. */
  get hasChunks(): boolean {
    return this.#chunks.length > 0;
  }

  /** Whether the file still has a name: data written to an unlinked file is lost. */
  get isNamed(): boolean {
    return fstatSync(this.#fd).nlink > 0;
  }

  get sizeBytes(): number {
    return this.#position;
  }

  schema(name: string, encoding: string, text: string | Uint8Array): number {
    const id = this.#schemas.length + 1;
    const data = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    this.addSchema({ id, name, encoding, data });
    return id;
  }

  addSchema(schema: SchemaRecord): void {
    this.#schemas.push(schema);
    this.#records.writeSchema(schema);
    this.#put();
  }

  channel(topic: string, schemaId: number, messageEncoding: string, lane: number): number {
    const id = this.#channels.length;
    this.addChannel({ id, schemaId, topic, messageEncoding, metadata: new Map() }, lane);
    return id;
  }

  addChannel(channel: ChannelRecord, lane: number): void {
    this.#channels.push(channel);
    this.#laneOf.set(channel.id, this.#lanes[lane]!);
    this.#records.writeChannel(channel);
    this.#put();
  }

  metadata(name: string, values: Record<string, string>): void {
    const offset = BigInt(this.#position);
    const length = this.#records.writeMetadata({ name, metadata: new Map(Object.entries(values)) });
    this.#metadata.push({ name, offset, length });
    this.#put();
  }

  message({ channelId, sequence, timeNs, data }: McapMessage): void {
    const lane = this.#laneOf.get(channelId)!;
    lane.chunk.addMessage({ channelId, sequence, logTime: timeNs, publishTime: timeNs, data });
    if (lane.chunk.byteLength >= lane.bytes) this.#flushFrom(lane);
  }

  /** Hands all buffered messages to the operating system, so that a killed process loses none of them. */
  flush(): void {
    this.#flushFrom(this.#lanes[0]!);
  }

  /** Starts writing flushed data to disk in the background. The next write throws if that failed. */
  sync(): void {
    if (this.#syncing || !this.#open) return;
    this.#syncing = true;
    fdatasync(this.#fd, (error) => {
      this.#syncing = false;
      if (this.#open) this.#syncError = error;
    });
  }

  /** Later lanes go first, so that what a row refers to is in the file before the row. */
  #flushFrom(lane: Lane): void {
    for (let i = this.#lanes.length - 1; i >= this.#lanes.indexOf(lane); i--) {
      const { chunk } = this.#lanes[i]!;
      if (chunk.numMessages === 0) continue;
      const { messageStartTime, messageEndTime, buffer: records, indices } = chunk;
      this.chunk({ messageStartTime, messageEndTime, records, crc: crc32(records), indices });
      chunk.reset();
    }
  }

  /** Writes a complete chunk and its message index. */
  chunk({ messageStartTime, messageEndTime, records, crc, indices }: WholeChunk): void {
    const size = BigInt(records.length);
    const chunkStartOffset = BigInt(this.#position);
    const head = chunkHead(messageStartTime, messageEndTime, size, crc);
    const chunkLength = BigInt(head.length) + size;
    const indexStart = chunkStartOffset + chunkLength;
    const messageIndexOffsets = new Map<number, bigint>();
    let indexLength = 0n;
    for (const index of indices) {
      this.#count(index.channelId, index.records.length, messageStartTime, messageEndTime);
      messageIndexOffsets.set(index.channelId, indexStart + indexLength);
      indexLength += this.#records.writeMessageIndex(index);
    }
    this.#write([head, records, this.#records.buffer]);
    this.#records.reset();
    this.#chunks.push({
      messageStartTime,
      messageEndTime,
      chunkStartOffset,
      chunkLength,
      messageIndexOffsets,
      messageIndexLength: indexLength,
      compression: '',
      compressedSize: size,
      uncompressedSize: size,
    });
  }

  #count(channelId: number, messages: number, startTime: bigint, endTime: bigint): void {
    if (this.#counts.size === 0 || startTime < this.#startTime) this.#startTime = startTime;
    if (endTime > this.#endTime) this.#endTime = endTime;
    this.#counts.set(channelId, (this.#counts.get(channelId) ?? 0n) + BigInt(messages));
  }

  /** Writes summary, indexes and footer; everything is on disk when it returns. */
  end(): void {
    this.flush();
    this.#records.writeDataEnd({ dataSectionCrc: this.#sumsData ? this.#crc : 0 });
    this.#put();
    const summaryStart = BigInt(this.#position);
    this.#crc = 0;
    for (const schema of this.#schemas) this.#records.writeSchema(schema);
    for (const channel of this.#channels) this.#records.writeChannel(channel);
    this.#records.writeStatistics(this.#statistics());
    for (const index of this.#metadata) this.#records.writeMetadataIndex(index);
    for (const index of this.#chunks) this.#records.writeChunkIndex(index);
    this.#put();
    this.#records.writeFooter({
      summaryStart,
      summaryOffsetStart: 0n,
      summaryCrc: this.#footerCrc(summaryStart),
    });
    this.#records.writeMagic();
    this.#put();
    fsyncSync(this.#fd);
    this.close();
  }

  #statistics() {
    return {
      messageCount: [...this.#counts.values()].reduce((sum, count) => sum + count, 0n),
      schemaCount: this.#schemas.length,
      channelCount: this.#channels.length,
      attachmentCount: 0,
      metadataCount: this.#metadata.length,
      chunkCount: this.#chunks.length,
      messageStartTime: this.#startTime,
      messageEndTime: this.#endTime,
      channelMessageCounts: this.#counts,
    };
  }

  /** The summary checksum includes the footer up to the checksum field. */
  #footerCrc(summaryStart: bigint): number {
    const footer = new DataView(new ArrayBuffer(25));
    footer.setUint8(0, 0x02);
    footer.setBigUint64(1, 20n, true);
    footer.setBigUint64(9, summaryStart, true);
    return crc32(footer, this.#crc);
  }

  /** Closes without an end: the file keeps what was flushed. Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#fd);
  }

  /** Closes and deletes the file. */
  remove(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  #put(): void {
    this.#write([this.#records.buffer]);
    this.#records.reset();
  }

  #write(parts: Uint8Array[]): void {
    if (this.#syncError !== null) throw this.#syncError;
    let left = parts;
    // Write at an explicit position: a resumed file was opened at its start.
    for (let at = this.#position; left.length > 0; ) {
      const count = writevSync(this.#fd, left, at);
      left = after(left, count);
      at += count;
    }
    for (const part of parts) {
      this.#crc = crc32(part, this.#crc);
      this.#position += part.length;
    }
  }
}

/** What remains after the first `count` bytes were written. */
function after(parts: readonly Uint8Array[], count: number): Uint8Array[] {
  const left: Uint8Array[] = [];
  for (const part of parts) {
    if (count < part.length) left.push(part.subarray(count));
    count = Math.max(0, count - part.length);
  }
  return left;
}

/** A chunk record up to its records, which are large and written without copying. */
function chunkHead(startTime: bigint, endTime: bigint, size: bigint, crc: number): Uint8Array {
  const bytes = new Uint8Array(PREFIX_BYTES + 40);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, Opcode.CHUNK);
  view.setBigUint64(1, 40n + size, true);
  view.setBigUint64(9, startTime, true);
  view.setBigUint64(17, endTime, true);
  view.setBigUint64(25, size, true);
  view.setUint32(33, crc, true);
  view.setUint32(37, 0, true);
  view.setBigUint64(41, size, true);
  return bytes;
}

/** The existing content of a resumed file. */
export interface FileSoFar {
  schemas: SchemaRecord[];
  channels: ChannelRecord[];
  chunks: ChunkIndex[];
  metadata: { name: string; offset: bigint; length: bigint }[];
  counts: Map<number, bigint>;
}

const MAX_LANE_BYTES = 64 * 2 ** 20;

interface Lane {
  chunk: McapChunkBuilder;
  bytes: number;
}
