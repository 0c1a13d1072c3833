import { REASONS } from '../core/counters.ts';
import { type Percentiles, percentiles } from '../core/percentiles.ts';
import { OUTCOMES, SEGMENTS, type Segment, type TraceRecord } from '../core/trace-record.ts';
import { Column } from './columns.ts';
import {
  distribution,
  SESSION_STEP,
  type SegmentReport,
  sessionBreaks,
  sortedOrder,
} from './distribution.ts';
import { percentilesMs, roundMs } from './milliseconds.ts';
import { oneWayNs, segmentsNs } from './segments.ts';

/** What a trace says. Distributions are over applied commands, late ones included; null where nothing is known. */
export interface TraceReport {
  /** Closed commands, whatever became of them: applied + dropped + rejected + lost. */
  commands: number;
  /** Reached the driver, late ones included. */
  applied: number;
  /** The part of `applied` that came after its due time. */
  late: number;
  /** Discarded because a newer command had been applied. */
  dropped: number;
  /** No receipt came back: the command or its receipt was lost. */
  lost: number;
  rejected: number;
  rejectedBy: Record<string, number>;
  lossRatio: number | null;
  /** Closed before the first clock offset: counted, but without times that cross clocks. */
  unsynchronized: number;
  /** Applied commands with no kernel stamp, and with no released stamp (see `segmentsNs`). */
  withoutKernel: number;
  withoutRelease: number;
  /** Operator clock, first to last get_state, summed over sessions. */
  durationNs: number;
  oneWay: SegmentReport;
  segments: Record<Segment, SegmentReport>;
  /** Time on the wire of the dropped commands, which the distributions above do not see. */
  droppedWireNs: Percentiles | null;
  /** Due − stamp: what playout meant the delay to be. */
  playoutDelayNs: Percentiles | null;
  /** Applied − due. */
  playoutLatenessNs: Percentiles | null;
  clockUncertaintyNs: { max: number; last: number } | null;
  /** Commands waiting when one was handled. */
  queueDepth: Percentiles | null;
  /** What the hand's filter added before the one-way time begins; null where nothing was filtered. */
  filterDelayNs: Percentiles | null;
}

/** A report for programs: milliseconds to the microsecond; null where nothing is known. */
export interface TraceSummary {
  commands: number;
  /** Reached the driver, late ones included. */
  applied: number;
  /** The part of `applied` that came after its due time. */
  late: number;
  dropped: number;
  rejected: number;
  lost: number;
  oneWayMs: Percentiles | null;
  variationMs: Percentiles | null;
  segmentsMs: Record<Segment, Percentiles | null>;
  /** The one-way and wire times are known to ± this. */
  clockUncertaintyMs: { max: number; last: number } | null;
  playoutDelayMs: Percentiles | null;
  queueDepth: Percentiles | null;
  /** What the hand's filter added, on top of the one-way time; null where nothing was filtered. */
  filterDelayMs: Percentiles | null;
}

export interface ReportBuilder {
  /** Records may come in any order and from several sessions; the record is not kept. */
  add(record: TraceRecord): void;
  /** May be called at any time and again. */
  finish(): TraceReport;
}

export function createReport(): ReportBuilder {
  return new Accumulator();
}

export function summaryOf(report: TraceReport): TraceSummary {
  const { commands, applied, late, dropped, rejected, lost, clockUncertaintyNs: clock } = report;
  return {
    commands,
    applied,
    late,
    dropped,
    rejected,
    lost,
    oneWayMs: percentilesMs(report.oneWay.latencyNs),
    variationMs: percentilesMs(report.oneWay.variationNs),
    segmentsMs: Object.fromEntries(
      SEGMENTS.map((name) => [name, percentilesMs(report.segments[name].latencyNs)]),
    ) as Record<Segment, Percentiles | null>,
    clockUncertaintyMs: clock && { max: roundMs(clock.max), last: roundMs(clock.last) },
    playoutDelayMs: percentilesMs(report.playoutDelayNs),
    queueDepth: report.queueDepth,
    filterDelayMs: percentilesMs(report.filterDelayNs),
  };
}

const APPLIED = OUTCOMES.indexOf('applied');
const LATE = OUTCOMES.indexOf('late');
const DROPPED = OUTCOMES.indexOf('dropped-stale');
const REJECTED = OUTCOMES.indexOf('rejected');
const WIRE = SEGMENTS.indexOf('wire');

class Accumulator implements ReportBuilder {
  readonly #byOutcome = OUTCOMES.map(() => 0);
  readonly #rejectedBy: Record<string, number> = {};
  readonly #sessions = new Map<number, { index: number; firstNs: number; lastNs: number }>();
  /** Session in order of appearance × 2³² + sequence number. */
  readonly #keys = new Column();
  readonly #oneWay = new Column();
  readonly #segments = SEGMENTS.map(() => new Column());
  readonly #lateness = new Column();
  readonly #playout = new Column();
  readonly #depth = new Column();
  readonly #droppedWire = new Column();
  readonly #filterDelay = new Column();
  readonly #scratch = new Float64Array(SEGMENTS.length);
  #unsynchronized = 0;
  #withoutKernel = 0;
  #withoutRelease = 0;
  #uncertaintyMaxNs = Number.NEGATIVE_INFINITY;
  #uncertaintyLastNs = Number.NaN;

  add(record: TraceRecord): void {
    const sessionIndex = this.#touchSession(record);
    this.#byOutcome[record.outcome] = this.#byOutcome[record.outcome]! + 1;
    if (Number.isNaN(record.offsetNs)) this.#unsynchronized++;
    if (record.uncertaintyNs > this.#uncertaintyMaxNs) this.#uncertaintyMaxNs = record.uncertaintyNs;
    if (!Number.isNaN(record.uncertaintyNs)) this.#uncertaintyLastNs = record.uncertaintyNs;
    if (!Number.isNaN(record.queueDepth)) this.#depth.push(record.queueDepth);
    if (!Number.isNaN(record.playoutDelayNs)) this.#playout.push(record.playoutDelayNs);
    if (record.outcome === REJECTED) {
      const reason = REASONS[record.reason] ?? 'unknown';
      this.#rejectedBy[reason] = (this.#rejectedBy[reason] ?? 0) + 1;
    }
    if (record.outcome === APPLIED || record.outcome === LATE) {
      this.#addApplied(record, sessionIndex * SESSION_STEP + record.seq);
    } else if (record.outcome === DROPPED) {
      segmentsNs(record, this.#scratch);
      this.#droppedWire.push(this.#scratch[WIRE]!);
    }
  }

  finish(): TraceReport {
    const [applied = 0, late = 0, dropped = 0, lost = 0, rejected = 0] = this.#byOutcome;
    const commands = applied + late + dropped + lost + rejected;
    const order = sortedOrder(this.#keys);
    const breaks = sessionBreaks(this.#keys, order);
    const told = (column: Column) => distribution(column, order, breaks);
    const uncertainty = { max: this.#uncertaintyMaxNs, last: this.#uncertaintyLastNs };
    return {
      commands,
      applied: applied + late,
      late,
      dropped,
      lost,
      rejected,
      rejectedBy: { ...this.#rejectedBy },
      lossRatio: commands === 0 ? null : lost / commands,
      unsynchronized: this.#unsynchronized,
      withoutKernel: this.#withoutKernel,
      withoutRelease: this.#withoutRelease,
      durationNs: this.#durationNs(),
      oneWay: told(this.#oneWay),
      segments: Object.fromEntries(SEGMENTS.map((name, i) => [name, told(this.#segments[i]!)])) as Record<
        Segment,
        SegmentReport
      >,
      droppedWireNs: percentiles(this.#droppedWire.toFloat64()),
      playoutDelayNs: percentiles(this.#playout.toFloat64()),
      playoutLatenessNs: percentiles(this.#lateness.toFloat64()),
      clockUncertaintyNs: Number.isNaN(uncertainty.last) ? null : uncertainty,
      queueDepth: percentiles(this.#depth.toFloat64()),
      filterDelayNs: percentiles(this.#filterDelay.toFloat64()),
    };
  }

  #addApplied(record: TraceRecord, key: number): void {
    this.#keys.push(key);
    this.#oneWay.push(oneWayNs(record));
    segmentsNs(record, this.#scratch);
    for (let i = 0; i < this.#segments.length; i++) this.#segments[i]!.push(this.#scratch[i]!);
    this.#lateness.push(Math.round(record.appliedNs) - Math.round(record.dueNs));
    if (!Number.isNaN(record.filterDelayNs)) this.#filterDelay.push(Math.round(record.filterDelayNs));
    if (Number.isNaN(record.kernelNs)) this.#withoutKernel++;
    if (Number.isNaN(record.releasedNs)) this.#withoutRelease++;
  }

  #touchSession(record: TraceRecord): number {
    let session = this.#sessions.get(record.session);
    if (session === undefined) {
      session = {
        index: this.#sessions.size,
        firstNs: Number.POSITIVE_INFINITY,
        lastNs: Number.NEGATIVE_INFINITY,
      };
      this.#sessions.set(record.session, session);
    }
    if (record.getStateNs < session.firstNs) session.firstNs = record.getStateNs;
    if (record.getStateNs > session.lastNs) session.lastNs = record.getStateNs;
    return session.index;
  }

  #durationNs(): number {
    let sumNs = 0;
    for (const { firstNs, lastNs } of this.#sessions.values()) sumNs += Math.max(0, lastNs - firstNs);
    return sumNs;
  }
}
