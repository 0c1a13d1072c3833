import { renameSync, rmSync } from 'node:fs';
import { NS_PER_S } from '../core/clock.ts';
import { TeleopError } from '../core/errors.ts';
import type { EpisodeInfo, EpisodeRow } from '../core/recording.ts';
import { emptyTraceRecord, type TraceRecord } from '../core/trace-record.ts';
import { syncFolderOf } from './mcap/file-writer.ts';
import type { ChannelRecord, MessageRecord } from './mcap/records.ts';
import { type Recovered, recoverMcap } from './mcap/recover.ts';
import { QualityMeter } from './quality.ts';
import { episodeId } from './reader.ts';
import { parseJson, RowAssembler } from './rows.ts';
import { EPISODE_METADATA, SUMMARY_METADATA, TOPICS } from './schemas.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

export interface RecoveredEpisode extends Recovered {
  path: string;
  rows: number;
  durationS: number;
  /** Rows missing between rows that were kept. */
  lostRows: number;
}

/** Where a recovery of `file` goes if nothing else is said: an unfinished file gets its name, a damaged one a copy. */
export const recoveryPath = (file: string): string =>
  file.endsWith(PART_ENDING)
    ? file.slice(0, -'.part'.length)
    : `${file.endsWith(EPISODE_ENDING) ? file.slice(0, -EPISODE_ENDING.length) : file}.recovered${EPISODE_ENDING}`;

/** Writes what is whole of an episode to `into`; the file itself stays as it is. Blocking. */
export function recoverEpisode(file: string, into: string, version: string): RecoveredEpisode {
  const episode = new EpisodeTally();
  const draft = `${into}.recovering`;
  rmSync(draft, { force: true });
  let found: Recovered;
  try {
    found = recoverMcap(file, draft, `farhand ${version}`, {
      onMessage: (message, channels) => episode.onMessage(message, channels),
      onMetadata: (name, metadata) => episode.onMetadata(name, metadata.get('json') ?? '{}'),
      isOutdated: (name) => name === SUMMARY_METADATA,
      beforeEnd: (out, recovered) => {
        const info = episode.info(episodeId(into));
        if (info !== null) out.metadata(SUMMARY_METADATA, { json: JSON.stringify({ ...info, recovered }) });
      },
    });
    if (found.keptMessages === 0) throw nothingLeft(file);
    renameSync(draft, into);
    syncFolderOf(into);
  } catch (cause) {
    rmSync(draft, { force: true });
    if (typeof (cause as NodeJS.ErrnoException).code !== 'string' || cause instanceof TeleopError)
      throw cause;
    throw new TeleopError('file-unwritable', `${into} cannot be written: ${(cause as Error).message}`, {
      hint: 'Free space on the disk, or recover to another one with --output FILE.',
      cause,
    });
  }
  const { rows, durationS, lostRows } = episode;
  return { ...found, path: into, rows, durationS, lostRows };
}

const nothingLeft = (file: string): TeleopError =>
  new TeleopError('file-unreadable', `nothing in ${file} can be recovered`, {
    hint: 'It holds no whole chunk of an MCAP file: it was ended before anything was written, or is none.',
  });

/** Counts and judges an episode as its messages pass by. */
class EpisodeTally {
  rows = 0;
  lostRows = 0;
  #start: (EpisodeInfo & { rig?: unknown; owner?: unknown }) | null = null;
  #summary: Partial<EpisodeInfo> = {};
  #assembler: RowAssembler | null = null;
  #meter = new QualityMeter(100);
  #last: EpisodeRow | null = null;
  #first: EpisodeRow | null = null;

  get durationS(): number {
    return this.#last === null ? 0 : (this.#last.timeNs - this.#first!.timeNs) / NS_PER_S;
  }

  onMetadata(name: string, json: string): void {
    const value = parseJson(new TextEncoder().encode(json));
    if (value === null) return;
    if (name === SUMMARY_METADATA) this.#summary = value as Partial<EpisodeInfo>;
    if (name !== EPISODE_METADATA && (this.#start !== null || name !== SUMMARY_METADATA)) return;
    this.#start = value as unknown as EpisodeInfo;
    this.#meter = new QualityMeter(this.#start.rateHz);
  }

  onMessage(message: MessageRecord, channels: ReadonlyMap<number, ChannelRecord>): void {
    if (this.#start === null) return;
    if (channels.get(message.channelId)?.topic === TOPICS.trace) return this.#onTrace(message.data);
    this.#assembler ??= new RowAssembler(channels, this.#start.joints.length);
    const row = this.#assembler.add(message);
    if (row === null) return;
    if (this.#last !== null) this.lostRows += Math.max(0, row.index - this.#last.index - 1);
    this.#first ??= row;
    this.#last = row;
    this.rows++;
    this.#meter.row(row);
  }

  #onTrace(data: Uint8Array): void {
    const fields = parseJson(data) as Partial<Record<keyof TraceRecord, number | null>> | null;
    if (fields === null) return;
    const { seq, getStateNs, appliedNs, offsetNs } = { ...emptyTraceRecord(), ...fields };
    this.#meter.trace({
      seq: seq ?? Number.NaN,
      getStateNs: getStateNs ?? Number.NaN,
      appliedNs: appliedNs ?? Number.NaN,
      offsetNs: offsetNs ?? Number.NaN,
    });
  }

  /** What the episode came to; null when the file does not say what it is of. */
  info(id: string): EpisodeInfo | null {
    if (this.#start === null) return null;
    const { rig: _, owner: __, ...start } = this.#start;
    const skippedRows = this.#summary.skippedRows ?? start.skippedRows;
    return {
      ...start,
      ...this.#summary,
      id,
      rows: this.rows,
      durationS: this.durationS,
      skippedRows,
      staleRows: this.#meter.staleRows,
      complete: true,
      quality: { ...this.#meter.result(skippedRows), refusedBy: this.#summary.quality?.refusedBy ?? [] },
    };
  }
}
