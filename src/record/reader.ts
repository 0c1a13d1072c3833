import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import type { WorldMoment } from '../messages/console.ts';
import type { EpisodeInfo, EpisodeRow } from '../messages/recording.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import {
  parseObject,
  parseSidecar,
  parseStart,
  parseSummary,
  parseWorld,
  type Sidecar,
} from './episode-schema.ts';
import { readRawAudio, type SoundBlock } from './foxglove/messages.ts';
import { McapFile, type McapIndex } from './mcap/index-reader.ts';
import type { ChunkEntry, MessageRecord } from './mcap/records.ts';
import { type PictureKind, pictureAt, picturesIn, placesOf, type RecordedPicture } from './pictures.ts';
import { ROW_TOPICS, RowAssembler } from './rows.ts';
import { EPISODE_METADATA, SUMMARY_METADATA, TOPICS } from './schemas.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

/** A closed trace or an event, as its JSON message. */
export interface JsonMessage {
  /** Wall clock. */
  timeNs: bigint;
  value: Record<string, unknown>;
}

/** What is known about an episode without its rows. Blocking; reads only the two ends of a complete file. */
export async function readInfo(file: string): Promise<EpisodeInfo> {
  return withFile(file, (mcap) => infoOf(mcap, mcap.index(false)));
}

/** An episode without its pictures. Blocking. */
export async function readEpisode(file: string): Promise<{ info: EpisodeInfo; rows: EpisodeRow[] }> {
  return withFile(file, (mcap) => {
    const index = mcap.index();
    const info = infoOf(mcap, index);
    return { info, rows: [...rowsOf(mcap, index, info)] };
  });
}

/** The rig and everything else written at the start. */
export async function readStart(file: string): Promise<Record<string, unknown>> {
  return withFile(file, (mcap) => parseStart(metadataOf(mcap.index(), EPISODE_METADATA)) ?? {});
}

/** Traces, events, or rows without their joints, each with its time. */
export async function readJson(file: string, kind: 'trace' | 'event' | 'row'): Promise<JsonMessage[]> {
  return withFile(file, (mcap) => {
    const index = mcap.index();
    const found: JsonMessage[] = [];
    for (const { logTime, data } of messagesOn(mcap, index, [TOPICS[kind]])) {
      const value = parseObject(data);
      if (value !== null) found.push({ timeNs: logTime, value });
    }
    return found;
  });
}

/** The simulated world of an episode over time, since its first row; empty: it had none. */
export async function readWorld(file: string): Promise<WorldMoment[]> {
  return withFile(file, (mcap) => {
    const index = mcap.index();
    const channels = channelsOf(index, [TOPICS.row, TOPICS.world]);
    const found: { logTime: bigint; world: WorldTelemetry }[] = [];
    let first: bigint | null = null;
    for (const { channelId, logTime, data } of selected(mcap, index, channels)) {
      if (channels.get(channelId) === TOPICS.row) first ??= logTime;
      const world = channels.get(channelId) === TOPICS.world ? parseWorld(data) : null;
      if (world !== null) found.push({ logTime, world });
    }
    return found.map(({ logTime, world }) => ({ timeNs: Number(logTime - (first ?? logTime)), world }));
  });
}

/** All pictures of a camera in order, or its distances as PNG of 16 bits; a few at a time in memory. */
export async function* frames(
  file: string,
  camera: string,
  kind: PictureKind = 'picture',
): AsyncGenerator<RecordedPicture> {
  const mcap = new McapFile(file);
  try {
    yield* picturesIn(mcap, camera, kind);
  } finally {
    mcap.close();
  }
}

/** Capture times of a camera's pictures in the file. */
export async function captures(file: string, camera: string): Promise<ReadonlySet<number>> {
  return withFile(file, (mcap) => new Set(placesOf(mcap, camera).byCapture.keys()));
}

/** One picture as JPEG; null if the file has none with that camera and capture time. */
export async function readFrame(file: string, camera: string, captureNs: number): Promise<Uint8Array | null> {
  const mcap = new McapFile(file);
  try {
    return await pictureAt(mcap, camera, captureNs);
  } finally {
    mcap.close();
  }
}

/** The sound in order, one block at a time. */
export async function* soundIn(file: string): AsyncGenerator<SoundBlock> {
  const mcap = new McapFile(file);
  try {
    for (const { data } of messagesOn(mcap, mcap.index(), [TOPICS.sound])) {
      const block = readRawAudio(data);
      if (block !== null) yield block;
    }
  } finally {
    mcap.close();
  }
}

export const episodeId = (file: string): string =>
  path.basename(file).replace(new RegExp(`(${PART_ENDING}|${EPISODE_ENDING})$`.replaceAll('.', '\\.')), '');

export const sidecarOf = (file: string): string => path.join(path.dirname(file), `${episodeId(file)}.json`);

function withFile<T>(file: string, use: (mcap: McapFile) => T): T {
  const mcap = new McapFile(file);
  try {
    return use(mcap);
  } finally {
    mcap.close();
  }
}

function infoOf(mcap: McapFile, index: McapIndex): EpisodeInfo {
  const summary = parseSummary(metadataOf(index, SUMMARY_METADATA)) ?? {};
  const {
    rig: _,
    owner: __,
    ...known
  } = {
    ...summary,
    ...parseStart(metadataOf(index, EPISODE_METADATA)),
  } as EpisodeInfo & { rig?: unknown; owner?: unknown };
  if (known.robot === undefined || known.joints === undefined)
    throw new TeleopError('file-unreadable', `${mcap.path} is not a Farhand recording`, {
      hint: 'Other MCAP files open in Foxglove, Lichtblick or Rerun.',
    });
  const ended = index.complete && summary.rows !== undefined;
  return {
    ...known,
    ...(ended ? summary : measured(mcap, mcap.index())),
    ...readSidecar(mcap.path),
    id: episodeId(mcap.path),
    sizeBytes: mcap.sizeBytes,
    complete: ended,
  };
}

/** For a file without an end: measured from its chunks. */
function measured(mcap: McapFile, index: McapIndex): Pick<EpisodeInfo, 'rows' | 'durationS'> {
  const channel = channelsOf(index, [TOPICS.row]);
  let rows = 0;
  let first = 0n;
  let last = 0n;
  for (const { logTime } of selected(mcap, index, channel)) {
    if (rows++ === 0) first = logTime;
    last = logTime;
  }
  return { rows, durationS: Number(last - first) / NS_PER_S };
}

function readSidecar(file: string): Sidecar {
  const beside = sidecarOf(file);
  if (!existsSync(beside)) return {};
  const sidecar = parseSidecar(readFileSync(beside));
  if (sidecar !== null) return sidecar;
  throw new TeleopError('file-unreadable', `${beside} is not valid`, {
    hint: 'It holds the label and task of the recording next to it; fix or delete it.',
  });
}

const metadataOf = (index: McapIndex, name: string): string => index.metadata.get(name)?.get('json') ?? '{}';

function channelsOf(index: McapIndex, topics: readonly string[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const { id, topic } of index.channels.values()) if (topics.includes(topic)) found.set(id, topic);
  return found;
}

const mayHold = (chunk: ChunkEntry, channels: ReadonlyMap<number, string>): boolean =>
  chunk.channels.size === 0 || [...chunk.channels.keys()].some((id) => channels.has(id));

function* selected(
  mcap: McapFile,
  index: McapIndex,
  channels: ReadonlyMap<number, string>,
): Generator<MessageRecord> {
  for (const chunk of index.chunks)
    if (mayHold(chunk, channels))
      for (const message of mcap.messages(chunk)) if (channels.has(message.channelId)) yield message;
}

const messagesOn = (mcap: McapFile, index: McapIndex, topics: readonly string[]): Generator<MessageRecord> =>
  selected(mcap, index, channelsOf(index, topics));

/** Rows whose command and state are present. */
function* rowsOf(mcap: McapFile, index: McapIndex, info: EpisodeInfo): Generator<EpisodeRow> {
  const assembler = new RowAssembler(info.joints.length);
  const channels = channelsOf(index, ROW_TOPICS);
  for (const message of selected(mcap, index, channels)) {
    const row = assembler.add(channels.get(message.channelId)!, message);
    if (row !== null) yield row;
  }
}
