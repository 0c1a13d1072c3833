import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { McapChunkBuilder, McapRecordBuilder } from '@mcap/core';
import type { ChannelRecord, SchemaRecord } from './records.ts';

export interface McapMessage {
  channelId: number;
  sequence: number;
  timeNs: bigint;
  data: Uint8Array;
}

interface ChunkIndex {
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
 * Writes an MCAP file, blocking: it belongs on a thread of its own. Messages are gathered in two lanes of chunks, so that
 * who wants numbers need not read pictures. Schemas and channels stand before the first chunk. Throws what the file
 * system throws; the file is then whole up to its last flush, without an end.
 */
export class McapFileWriter {
  readonly path: string;
  readonly #fd: number;
  readonly #records = new McapRecordBuilder();
  readonly #lanes: readonly Lane[];
  readonly #laneOf = new Map<number, Lane>();
  readonly #schemas: SchemaRecord[] = [];
  readonly #channels: ChannelRecord[] = [];
  readonly #chunks: ChunkIndex[] = [];
  readonly #metadata: { name: string; offset: bigint; length: bigint }[] = [];
  readonly #counts = new Map<number, bigint>();
  #startTime = 0n;
  #endTime = 0n;
  #crc = 0;
  #position = 0;
  #open = true;

  constructor(path: string, header: { profile: string; library: string }, laneBytes: readonly number[]) {
    this.path = path;
    this.#lanes = laneBytes.map((bytes) => ({ chunk: new McapChunkBuilder({}), bytes }));
    this.#fd = openSync(path, 'wx', 0o644);
    this.#records.writeMagic();
    this.#records.writeHeader(header);
    this.#put();
  }

  get sizeBytes(): number {
    return this.#position;
  }

  schema(name: string, encoding: string, text: string): number {
    const id = this.#schemas.length + 1;
    this.addSchema({ id, name, encoding, data: new TextEncoder().encode(text) });
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

  /** Hands all that was gathered to the system: a process that is killed then loses none of it. */
  flush(): void {
    this.#flushFrom(this.#lanes[0]!);
  }

  /** Later lanes go first: what a row points at is in the file before the row. */
  #flushFrom(lane: Lane): void {
    for (let i = this.#lanes.length - 1; i >= this.#lanes.indexOf(lane); i--) {
      const { chunk } = this.#lanes[i]!;
      if (chunk.numMessages === 0) continue;
      const { messageStartTime, messageEndTime, buffer: records, indices } = chunk;
      this.chunk({ messageStartTime, messageEndTime, records, crc: crc32(records), indices });
      chunk.reset();
    }
  }

  /** A chunk as it is, with the index of its messages. */
  chunk({ messageStartTime, messageEndTime, records, crc, indices }: WholeChunk): void {
    const size = BigInt(records.length);
    const chunkStartOffset = BigInt(this.#position);
    const chunkLength = this.#records.writeChunk({
      messageStartTime,
      messageEndTime,
      uncompressedSize: size,
      uncompressedCrc: crc,
      compression: '',
      records,
    });
    const indexStart = chunkStartOffset + chunkLength;
    const messageIndexOffsets = new Map<number, bigint>();
    let indexLength = 0n;
    for (const index of indices) {
      this.#count(index.channelId, index.records.length, messageStartTime, messageEndTime);
      messageIndexOffsets.set(index.channelId, indexStart + indexLength);
      indexLength += this.#records.writeMessageIndex(index);
    }
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
    this.#put();
  }

  #count(channelId: number, messages: number, startTime: bigint, endTime: bigint): void {
    if (this.#counts.size === 0 || startTime < this.#startTime) this.#startTime = startTime;
    if (endTime > this.#endTime) this.#endTime = endTime;
    this.#counts.set(channelId, (this.#counts.get(channelId) ?? 0n) + BigInt(messages));
  }

  /** Summary, indexes, end; on the disk when it returns. */
  end(): void {
    this.flush();
    this.#records.writeDataEnd({ dataSectionCrc: this.#crc });
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

  /** The summary's sum goes on over the footer, up to the sum itself. */
  #footerCrc(summaryStart: bigint): number {
    const footer = new DataView(new ArrayBuffer(25));
    footer.setUint8(0, 0x02);
    footer.setBigUint64(1, 20n, true);
    footer.setBigUint64(9, summaryStart, true);
    return crc32(footer, this.#crc);
  }

  /** Without an end: the file stays as far as it was flushed. Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#fd);
  }

  #put(): void {
    const { buffer } = this.#records;
    for (let taken = 0; taken < buffer.length; ) taken += writeSync(this.#fd, buffer, taken);
    this.#crc = crc32(buffer, this.#crc);
    this.#position += buffer.length;
    this.#records.reset();
  }
}

interface Lane {
  chunk: McapChunkBuilder;
  bytes: number;
}
