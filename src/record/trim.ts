import { renameSync, rmSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { syncFolderOf, unwritable } from '../files/write-whole.ts';
import { parseObject, parseRow, parseStart, parseSummary } from './episode-schema.ts';
import { EpisodeTally } from './episode-tally.ts';
import { videoFrameId } from './foxglove/messages.ts';
import { McapFileWriter } from './mcap/file-writer.ts';
import { McapFile, type McapIndex } from './mcap/index-reader.ts';
import type { ChannelRecord, MessageRecord } from './mcap/records.ts';
import { placesOf } from './pictures.ts';
import { episodeId } from './reader.ts';
import {
  CAMERA_TOPIC,
  captureIn,
  captureOf,
  DEPTH_TOPIC,
  EPISODE_METADATA,
  SUMMARY_METADATA,
  TOPICS,
} from './schemas.ts';
import { LANE_BYTES, PICTURE_LANE } from './writer.ts';

/** Topics whose newest message holds until the next one: the part begins with the one before it. */
const LASTING: readonly string[] = [TOPICS.description, TOPICS.world, TOPICS.motors];

/** The rows that are kept, and what they refer to. */
interface Part {
  rows: number;
  firstIndex: number;
  /** Of the first row, since the first row of the whole recording. */
  offsetNs: number;
  /** Wall clock of the first and last row. */
  startNs: bigint;
  endNs: bigint;
  /** By camera: first and last capture that a row refers to. */
  captures: Map<string, [number, number]>;
}

/**
 * Writes the rows from `fromS` to `toS` of a recording, with everything that belongs to them, to `into`, which may be
 * the recording itself. The pictures stay as they were encoded. Blocking.
 */
export function trimEpisode(file: string, fromS: number, toS: number, into: string, version: string): number {
  const draft = `${into}.trimming`;
  const mcap = new McapFile(file);
  try {
    rmSync(draft, { force: true });
    const rows = writePart(mcap, fromS, toS, draft, episodeId(into), version);
    renameSync(draft, into);
    syncFolderOf(into);
    return rows;
  } catch (cause) {
    rmSync(draft, { force: true });
    throw unwritable(into, cause);
  } finally {
    mcap.close();
  }
}

function writePart(
  mcap: McapFile,
  fromS: number,
  toS: number,
  draft: string,
  id: string,
  version: string,
): number {
  const index = mcap.index();
  const part = partOf(mcap, index, fromS, toS);
  const out = new McapFileWriter(draft, { profile: 'ros2', library: `farhand ${version}` }, LANE_BYTES);
  try {
    const tally = new EpisodeTally();
    const start = startJson(index, part);
    tally.onMetadata(SUMMARY_METADATA, summaryJson(index, part));
    tally.onMetadata(EPISODE_METADATA, start);
    out.metadata(EPISODE_METADATA, { json: start });
    declare(out, index);
    copyMessages(mcap, index, part, (message, channel) => {
      const { channelId, sequence, logTime: timeNs, data } = message;
      out.message({ channelId, sequence, timeNs, data });
      tally.onMessage(message, channel);
    });
    const trimmed = { fromS: part.offsetNs / NS_PER_S, rowsBefore: part.firstIndex };
    out.metadata(SUMMARY_METADATA, { json: JSON.stringify({ ...tally.info(id), trimmed }) });
    out.end();
    return tally.rows;
  } finally {
    out.close();
  }
}

function partOf(mcap: McapFile, index: McapIndex, fromS: number, toS: number): Part {
  const channel = [...index.channels.values()].find(({ topic }) => topic === TOPICS.row);
  const [fromNs, toNs] = [Math.round(fromS * NS_PER_S), Math.round(toS * NS_PER_S)];
  let part: Part | null = null;
  for (const { channelId, logTime, data } of allMessages(mcap, index)) {
    const row = channelId === channel?.id ? parseRow(data) : null;
    if (row === null || row.timeNs < fromNs || row.timeNs > toNs) continue;
    part ??= {
      ...{ rows: 0, firstIndex: row.index, offsetNs: row.timeNs },
      ...{ startNs: logTime, endNs: logTime, captures: new Map() },
    };
    part.rows++;
    part.endNs = logTime;
    for (const [camera, { captureNs }] of Object.entries(row.frames)) {
      const [first] = part.captures.get(camera) ?? [captureNs];
      part.captures.set(camera, [first, captureNs]);
    }
  }
  if (part !== null && part.rows > 1) return part;
  throw new TeleopError('bad-option', `${mcap.path} has no motion from ${fromS} to ${toS} s`, {
    hint: 'Choose two times inside the recording.',
  });
}

/** The pictures of a channel that the rows need. In a video they begin with the key picture before the first. */
function capturesOf(mcap: McapFile, { topic }: ChannelRecord, part: Part): [number, number] | null {
  const kind = topic.startsWith(DEPTH_TOPIC) ? 'depth' : topic.startsWith(CAMERA_TOPIC) ? 'picture' : null;
  if (kind === null) return null;
  const camera = topic.slice((kind === 'depth' ? DEPTH_TOPIC : CAMERA_TOPIC).length);
  const used = part.captures.get(camera);
  if (used === undefined) return [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const { isVideo, list, byCapture } = placesOf(mcap, camera, kind);
  const group = byCapture.get(used[0])?.group;
  const key = isVideo && group !== undefined ? list.find((each) => each.group === group) : undefined;
  return [key?.captureNs ?? used[0], used[1]];
}

type Take = (message: MessageRecord, channel: ChannelRecord) => void;

function copyMessages(mcap: McapFile, index: McapIndex, part: Part, take: Take): void {
  const captures = new Map<number, [number, number]>();
  for (const channel of index.channels.values()) {
    const range = capturesOf(mcap, channel, part);
    if (range !== null) captures.set(channel.id, range);
  }
  const lasting = new Map<number, MessageRecord>();
  let begun = false;
  for (const message of allMessages(mcap, index)) {
    const channel = index.channels.get(message.channelId);
    if (channel === undefined) continue;
    const range = captures.get(channel.id);
    if (range !== undefined) {
      const captureNs = captureNsOf(message, channel);
      if (captureNs >= range[0] && captureNs <= range[1]) take(message, channel);
    } else if (message.logTime < part.startNs) {
      if (LASTING.includes(channel.topic))
        lasting.set(channel.id, { ...message, data: message.data.slice() });
    } else if (message.logTime <= part.endNs) {
      if (!begun) for (const [id, before] of lasting) take(before, index.channels.get(id)!);
      begun = true;
      take(channel.topic === TOPICS.row ? shifted(message, part) : message, channel);
    }
  }
}

const captureNsOf = ({ data }: MessageRecord, { messageEncoding }: ChannelRecord): number =>
  messageEncoding === 'protobuf' ? captureIn(videoFrameId(data)) : captureOf(data);

/** Rows count and measure time from the first one. */
function shifted(message: MessageRecord, { firstIndex, offsetNs }: Part): MessageRecord {
  const row = parseObject(message.data);
  if (row === null) return message;
  const moved = {
    ...row,
    index: Number(row['index']) - firstIndex,
    timeNs: Number(row['timeNs']) - offsetNs,
  };
  return { ...message, data: encoder.encode(JSON.stringify(moved)) };
}

function* allMessages(mcap: McapFile, index: McapIndex): Generator<MessageRecord> {
  for (const chunk of index.chunks) yield* mcap.messages(chunk);
}

function declare(out: McapFileWriter, index: McapIndex): void {
  for (const schema of index.schemas.values()) out.addSchema(schema);
  for (const channel of index.channels.values())
    out.addChannel(channel, isPicture(channel.topic) ? PICTURE_LANE : 0);
}

const isPicture = (topic: string): boolean =>
  topic.startsWith(CAMERA_TOPIC) || topic.startsWith(DEPTH_TOPIC) || topic === TOPICS.sound;

function startJson(index: McapIndex, { offsetNs }: Part): string {
  const start = parseStart(jsonOf(index, EPISODE_METADATA)) ?? {};
  const at = new Date(start.startedAt ?? '').getTime() + offsetNs / 1e6;
  const startedAt = Number.isNaN(at) ? {} : { startedAt: new Date(at).toISOString() };
  return JSON.stringify({ ...start, ...startedAt });
}

/** Rows that are missing in the part were skipped while it was recorded. */
function summaryJson(index: McapIndex, { rows, startNs, endNs }: Part): string {
  const { startedAt: _, ...summary } = parseSummary(jsonOf(index, SUMMARY_METADATA)) ?? {};
  const expected = (Number(endNs - startNs) / NS_PER_S) * (summary.rateHz ?? 0);
  return JSON.stringify({ ...summary, skippedRows: Math.max(0, Math.round(expected) + 1 - rows) });
}

const jsonOf = (index: McapIndex, name: string): string => index.metadata.get(name)?.get('json') ?? '{}';

const encoder = new TextEncoder();
