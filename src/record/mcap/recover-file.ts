import { type ChunkIndex, McapFileWriter } from './file-writer.ts';
import { McapFile } from './index-reader.ts';
import type { ChannelRecord, MessageRecord } from './records.ts';
import {
  type FoundChunk,
  MAX_CHUNK_BYTES,
  type Place,
  type Scanned,
  Scanner,
  type ScanSink,
} from './scan.ts';

export interface RecoverHooks {
  onMetadata?: (name: string, metadata: ReadonlyMap<string, string>) => void;
  /** Every kept message, in file order; `data` is only valid during the call. */
  onMessage?: (message: MessageRecord, channel: ChannelRecord) => void;
  /** Metadata to leave out of the new file. */
  isOutdated?: (name: string) => boolean;
  /** Called before the file is ended. */
  beforeEnd?: (file: McapFileWriter, found: Scanned) => void;
}

/** Copies the intact parts of an MCAP file into a new one with indexes and summary. Blocking. */
export function recoverMcap(path: string, into: string, library: string, hooks: RecoverHooks = {}): Scanned {
  const file = new McapFile(path);
  try {
    for (const [name, metadata] of file.summary()?.metadata ?? []) hooks.onMetadata?.(name, metadata);
    const out = new McapFileWriter(into, { profile: 'ros2', library }, [MAX_CHUNK_BYTES]);
    try {
      const copy: Copy = new Copy(out, hooks);
      const scanner = new Scanner(file, copy);
      copy.scanner = scanner;
      const found = scanner.run();
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

class Copy implements ScanSink {
  scanner: Scanner | null = null;
  readonly #out: McapFileWriter;
  readonly #hooks: RecoverHooks;
  readonly #written = new Set<number>();
  readonly #writtenSchemas = new Set<number>();

  constructor(out: McapFileWriter, hooks: RecoverHooks) {
    this.#out = out;
    this.#hooks = hooks;
  }

  metadata(name: string, metadata: Map<string, string>): void {
    this.#hooks.onMetadata?.(name, metadata);
    if (this.#hooks.isOutdated?.(name) !== true) this.#out.metadata(name, Object.fromEntries(metadata));
  }

  message(message: MessageRecord, channel: ChannelRecord): void {
    if (!this.#written.has(channel.id)) this.#declare(channel);
    this.#hooks.onMessage?.(message, channel);
  }

  /** A channel must precede its first message. */
  #declare(channel: ChannelRecord): void {
    const schema = this.scanner!.schemas.get(channel.schemaId);
    if (schema !== undefined && !this.#writtenSchemas.has(schema.id)) {
      this.#writtenSchemas.add(schema.id);
      this.#out.addSchema(schema);
    }
    this.#written.add(channel.id);
    this.#out.addChannel(channel, 0);
  }

  chunk({ chunk, crc, indices }: FoundChunk): void {
    this.#out.chunk({
      messageStartTime: chunk.startTime,
      messageEndTime: chunk.endTime,
      records: chunk.records,
      crc,
      indices: [...indices].map(([channelId, records]) => ({ channelId, records })),
    });
  }

  messageIndex(): void {}
}

/**
 * Completes a truncated file in place: nothing before the cut is changed; its torn end is replaced by indexes
 * and summary. Returns null, with the file unchanged, if anything else is wrong with it. Blocking.
 */
export function endMcap(path: string, hooks: RecoverHooks = {}): Scanned | null {
  const file = new McapFile(path);
  const found = new Found(hooks);
  let scanned: Scanned;
  let scanner: Scanner;
  try {
    if (file.summary() !== null) return null;
    scanner = new Scanner(file, found);
    scanned = scanner.run();
  } finally {
    file.close();
  }
  const isDamaged = scanned.hadEnd || scanned.damagedBytes + scanned.damagedChunks > 0;
  if (isDamaged || found.isOutdated || scanned.keptChunks === 0) return null;
  const out = McapFileWriter.resume(path, found.endOffset, {
    schemas: [...scanner.schemas.values()],
    channels: [...scanner.channels.values()],
    chunks: found.chunks,
    counts: found.counts,
    metadata: found.metadataPlaces,
  });
  try {
    if (found.torn !== null) out.indexLastChunk(found.torn);
    hooks.beforeEnd?.(out, scanned);
    out.end();
    return scanned;
  } finally {
    out.close();
  }
}

/** Records where everything is. */
class Found implements ScanSink {
  isOutdated = false;
  readonly chunks: ChunkIndex[] = [];
  readonly counts = new Map<number, bigint>();
  readonly metadataPlaces: { name: string; offset: bigint; length: bigint }[] = [];
  readonly #hooks: RecoverHooks;
  #endOffset = 0;
  #last: FoundChunk['indices'] = new Map();

  constructor(hooks: RecoverHooks) {
    this.#hooks = hooks;
  }

  /** End of the last complete record; excludes the index of the last chunk if that is torn. */
  get endOffset(): number {
    const last = this.chunks.at(-1);
    return this.torn === null ? this.#endOffset : Number(last!.chunkStartOffset + last!.chunkLength);
  }

  /** The messages of the last chunk, if the file was cut inside the index that follows it. */
  get torn(): FoundChunk['indices'] | null {
    const last = this.chunks.at(-1);
    return last !== undefined && last.messageIndexOffsets.size < this.#last.size ? this.#last : null;
  }

  metadata(name: string, metadata: Map<string, string>, place: Place): void {
    this.#endOffset = place.offset + place.length;
    this.#hooks.onMetadata?.(name, metadata);
    if (this.#hooks.isOutdated?.(name) === true) this.isOutdated = true;
    this.metadataPlaces.push({ name, offset: BigInt(place.offset), length: BigInt(place.length) });
  }

  message(message: MessageRecord, channel: ChannelRecord): void {
    this.counts.set(channel.id, (this.counts.get(channel.id) ?? 0n) + 1n);
    this.#hooks.onMessage?.(message, channel);
  }

  chunk({ chunk, indices }: FoundChunk, place: Place): void {
    this.#endOffset = place.offset + place.length;
    this.#last = indices;
    this.chunks.push({
      messageStartTime: chunk.startTime,
      messageEndTime: chunk.endTime,
      chunkStartOffset: BigInt(place.offset),
      chunkLength: BigInt(place.length),
      messageIndexOffsets: new Map(),
      messageIndexLength: 0n,
      compression: '',
      compressedSize: BigInt(chunk.records.length),
      uncompressedSize: BigInt(chunk.records.length),
    });
  }

  messageIndex(channelId: number, place: Place): void {
    this.#endOffset = place.offset + place.length;
    const last = this.chunks.at(-1);
    if (last === undefined) return;
    last.messageIndexOffsets.set(channelId, BigInt(place.offset));
    last.messageIndexLength += BigInt(place.length);
  }
}
