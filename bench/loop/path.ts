import type { Percentiles } from '../../src/core/statistics/percentiles.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { OUTCOMES, SEGMENTS, type Segment, type TraceRecord } from '../../src/messages/trace-record.ts';
import { percentilesMs } from '../../src/trace/milliseconds.ts';
import { createReport, summaryOf } from '../../src/trace/report.ts';
import type { LoadSeen } from '../environment.ts';

/** Skipped at the start of each run: code is compiled and clocks are synchronized in this time. */
export const WARM_UP_S = 2;

/** Figures of one path through the system, in milliseconds. */
export interface PathResult {
  name: string;
  hz: number;
  commands: number;
  applied: number;
  lost: number;
  rejected: number;
  dropped: number;
  oneWayMs: Percentiles | null;
  segmentsMs: Partial<Record<Segment | 'parse', Percentiles | null>>;
  /** The part that a bare message pair also has: command ready → message decoded at the receiver. */
  messageMs: Percentiles | null;
  /** Error of the estimated clock offset, whose true value is 0 on one machine; null if there is none. */
  clockErrorMs: Percentiles | null;
  load: LoadSeen[];
}

const REACHED_DRIVER = [OUTCOMES.indexOf('applied'), OUTCOMES.indexOf('late')];

/** Collects one path from one or several runs, without the first seconds of each. */
export class PathSamples {
  readonly load: LoadSeen[] = [];
  readonly #report = createReport();
  readonly #messageNs: number[] = [];
  readonly #clockErrorNs: number[] = [];

  addRun(records: readonly TraceRecord[], load: LoadSeen): void {
    this.load.push(load);
    const fromNs =
      records.reduce((min, { sampledNs }) => Math.min(min, sampledNs), Infinity) + WARM_UP_S * 1e9;
    for (const record of records) {
      if (record.sampledNs < fromNs) continue;
      this.#clockErrorNs.push(Math.abs(record.offsetNs));
      // Both roles read the same monotonic clock here, so the times need no estimate.
      record.offsetNs = 0;
      this.#report.add(record);
      if (REACHED_DRIVER.includes(record.outcome))
        this.#messageNs.push(record.receiveNs - record.pipelineDoneNs);
    }
  }

  result(name: string, hz: number): PathResult {
    const summary = summaryOf(this.#report.finish());
    const { commands, applied, lost, rejected, dropped, oneWayMs, segmentsMs } = summary;
    return {
      name,
      hz,
      commands,
      applied,
      lost,
      rejected,
      dropped,
      oneWayMs,
      segmentsMs: Object.fromEntries(SEGMENTS.map((segment) => [segment, segmentsMs[segment]])),
      messageMs: percentilesMs(percentiles(this.#messageNs)),
      clockErrorMs: percentilesMs(percentiles(this.#clockErrorNs)),
      load: this.load,
    };
  }
}
