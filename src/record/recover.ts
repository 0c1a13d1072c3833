import { renameSync, rmSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { syncFolderOf, unwritable } from '../files/write-whole.ts';
import type { EpisodeInfo, EpisodeRow } from '../messages/recording.ts';
import { emptyTraceRecord, type TraceRecord } from '../messages/trace-record.ts';
import { parseObject, parseStart, parseSummary } from './episode-schema.ts';
import type { ChannelRecord, MessageRecord } from './mcap/records.ts';
import { endMcap, type RecoverHooks, recoverMcap } from './mcap/recover-file.ts';
import type { Scanned } from './mcap/scan.ts';
import { QualityMeter } from './quality.ts';
import { episodeId } from './reader.ts';
import { RowAssembler } from './rows.ts';
import { EPISODE_METADATA, SUMMARY_METADATA, TOPICS, traceKey } from './schemas.ts';
import { EPISODE_ENDING, PART_ENDING } from './writer.ts';

const emptyRecord = emptyTraceRecord();
const ELSEWHERE = 'Or recover to another disk with --output FILE.';

export interface RecoveredEpisode extends Scanned {
  path: string;
  rows: number;
  durationS: number;
  /** Rows missing between rows that were kept. */
  lostRows: number;
}

/** Default destination of a recovery: an unfinished file gets its final name, a damaged one a copy. */
export const recoveryPath = (file: string): string =>
  file.endsWith(PART_ENDING)
    ? file.slice(0, -'.part'.length)
    : `${file.endsWith(EPISODE_ENDING) ? file.slice(0, -EPISODE_ENDING.length) : file}.recovered${EPISODE_ENDING}`;

/** Writes the intact parts of an episode to `into`; the source file is not changed. Blocking. */
export function recoverEpisode(file: string, into: string, version: string): RecoveredEpisode {
  const episode = new EpisodeTally();
  const draft = `${into}.recovering`;
  try {
    rmSync(draft, { force: true });
    const found = recoverMcap(file, draft, `farhand ${version}`, hooksOf(episode, episodeId(into)));
    if (found.keptMessages === 0) throw nothingLeft(file);
    return named(draft, into, episode, found);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw unwritable(into, cause, ELSEWHERE);
  }
}

/**
 * Completes a truncated episode: in place if nothing else is wrong with it, which takes hardly any space,
 * otherwise through a copy. Removes the unfinished file. Blocking.
 */
export function finishEpisode(part: string, version: string): RecoveredEpisode {
  const into = recoveryPath(part);
  try {
    const episode = new EpisodeTally();
    const found = endMcap(part, hooksOf(episode, episodeId(into)));
    if (found !== null) return named(part, into, episode, found);
    const recovered = recoverEpisode(part, into, version);
    rmSync(part);
    return recovered;
  } catch (cause) {
    throw unwritable(into, cause, ELSEWHERE);
  }
}

function named(from: string, into: string, episode: EpisodeTally, found: Scanned): RecoveredEpisode {
  renameSync(from, into);
  syncFolderOf(into);
  const { rows, durationS, lostRows } = episode;
  return { ...found, path: into, rows, durationS, lostRows };
}

const hooksOf = (episode: EpisodeTally, id: string): RecoverHooks => ({
  onMessage: (message, channel) => episode.onMessage(message, channel),
  onMetadata: (name, metadata) => episode.onMetadata(name, metadata.get('json') ?? '{}'),
  isOutdated: (name) => name === SUMMARY_METADATA,
  beforeEnd: (out, recovered) => {
    const info = episode.info(id);
    if (info !== null) out.metadata(SUMMARY_METADATA, { json: JSON.stringify({ ...info, recovered }) });
  },
});

const nothingLeft = (file: string): TeleopError =>
  new TeleopError('file-unreadable', `nothing in ${file} can be recovered`, {
    hint: 'It contains no intact MCAP chunk: nothing was written before it was cut off, or it is not an MCAP file. Delete it.',
  });

/** Counts an episode's rows and measures its quality as its messages pass by. */
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
    const start = parseStart(json);
    if (start?.joints === undefined || start.rateHz === undefined) return;
    if (name === SUMMARY_METADATA) this.#summary = parseSummary(json) ?? {};
    if (name !== EPISODE_METADATA && (this.#start !== null || name !== SUMMARY_METADATA)) return;
    this.#start = start as EpisodeInfo;
    this.#meter = new QualityMeter(start.rateHz);
  }

  onMessage(message: MessageRecord, { topic }: ChannelRecord): void {
    if (this.#start === null) return;
    if (topic === TOPICS.trace) return this.#onTrace(message.data);
    this.#assembler ??= new RowAssembler(this.#start.joints.length);
    const row = this.#assembler.add(topic, message);
    if (row === null) return;
    if (this.#last !== null) this.lostRows += Math.max(0, row.index - this.#last.index - 1);
    this.#first ??= row;
    this.#last = row;
    this.rows++;
    this.#meter.row(row);
  }

  #onTrace(data: Uint8Array): void {
    const fields = parseObject(data) as Record<string, number | null> | null;
    if (fields === null) return;
    const field = (name: keyof TraceRecord) => fields[traceKey(name)] ?? emptyRecord[name];
    this.#meter.trace({
      seq: field('seq'),
      sampledNs: field('sampledNs'),
      appliedNs: field('appliedNs'),
      offsetNs: field('offsetNs'),
    });
  }

  /** The episode's summary; null if the file has no episode metadata. */
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
