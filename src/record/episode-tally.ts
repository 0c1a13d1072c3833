import { NS_PER_S } from '../core/time/clock.ts';
import type { EpisodeInfo, EpisodeRow } from '../messages/recording.ts';
import { emptyTraceRecord, type TraceRecord } from '../messages/trace-record.ts';
import { parseObject, parseStart, parseSummary } from './episode-schema.ts';
import type { ChannelRecord, MessageRecord } from './mcap/records.ts';
import { QualityMeter } from './quality.ts';
import { RowAssembler } from './rows.ts';
import { EPISODE_METADATA, SUMMARY_METADATA, TOPICS, traceKey } from './schemas.ts';

const emptyRecord = emptyTraceRecord();

/** Counts an episode's rows and measures its quality as its messages pass by. */
export class EpisodeTally {
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
