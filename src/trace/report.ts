import { REASONS } from '../core/counters.ts';
import type { Percentiles } from '../core/statistics/percentiles.ts';
import {
  HOPS,
  type Hop,
  OUTCOMES,
  SEGMENTS,
  type Segment,
  type TraceRecord,
} from '../messages/trace-record.ts';
import { Bunches, type BunchFigures } from './bunches.ts';
import { Distribution, type SegmentReport } from './distribution.ts';
import { type Feel, type FeelFigures, FeelMeter, feelFigures } from './feel.ts';
import { percentilesMs, roundMs } from './milliseconds.ts';
import { Quantiles } from './quantiles.ts';
import { type ReportDetail, ReportDetailBuilder } from './report-detail.ts';
import { handToMotionNs, hopsNs, oneWayNs } from './segments.ts';
import { Sequencer } from './sequencer.ts';
import type { TraceMotion } from './stamps.ts';
import { type TouchRecord, type TouchReport, TouchReportBuilder } from './touch.ts';
import { type VideoRecord, type VideoReport, VideoReportBuilder } from './video.ts';

/** The hops before and after the one-way time. */
export const OUTER_HOPS = ['capture', 'uplink', 'wait', 'response'] as const satisfies readonly Hop[];
export type OuterHop = (typeof OUTER_HOPS)[number];

/** The content of a trace. Distributions cover applied commands, including late ones; null if unknown. */
export interface TraceReport {
  /** Closed commands with any outcome: applied + dropped + rejected + lost. */
  commands: number;
  /** Reached the driver, including late ones. */
  applied: number;
  /** The part of `applied` that was applied after its due time. */
  late: number;
  /** Discarded because a newer command had been applied. */
  dropped: number;
  /** No receipt arrived: the command or its receipt was lost. */
  lost: number;
  rejected: number;
  rejectedBy: Record<string, number>;
  lossRatio: number | null;
  /** Closed before the first clock offset: counted, but without cross-clock times. */
  unsynchronized: number;
  /** Applied commands without a kernel stamp, and without a released stamp (see `segmentsNs`). */
  withoutKernel: number;
  withoutRelease: number;
  /** First sampling of each session, in order of appearance, operator clock. */
  sessionStartsNs: number[];
  /** Operator clock, first to last sampling, summed over sessions. */
  durationNs: number;
  oneWay: SegmentReport;
  segments: Record<Segment, SegmentReport>;
  /** Commands that the link, or TCP, delivered together because they waited for an earlier one. */
  bunches: BunchFigures;
  /** Time on the wire of the dropped commands, which the distributions above exclude. */
  droppedWireNs: Percentiles | null;
  /** Due − stamp: the delay that playout planned. */
  playoutDelayNs: Percentiles | null;
  /** Applied − due. */
  playoutLatenessNs: Percentiles | null;
  clockUncertaintyNs: { max: number; last: number } | null;
  /** Commands waiting when one was handled. */
  queueDepth: Percentiles | null;
  /** Delay added by the hand filter before the one-way time starts; null if nothing was filtered. */
  filterDelayNs: Percentiles | null;
  /** From the device to the sampling, and from applied to the joints' motion, where known. */
  outerHops: Record<OuterHop, SegmentReport>;
  /** From the device's sample, or its arrival, to the first state that shows the motion. */
  handToMotionNs: Percentiles | null;
  moved: number;
  /**
   * From sampling the hand to the joints reaching the target, by correlating commanded and measured joints.
   */
  motionLatencyNs: Percentiles | null;
  feel: Feel;
  video: VideoReport[];
  /** From the robot's reading of a contact to the pulse; null without one. */
  touch: TouchReport | null;
  /** False if there were too many commands to keep: quantiles are then accurate to 0.1 %. */
  isExact: boolean;
  /** For drawing; null unless requested. */
  detail: ReportDetail | null;
}

/** A report for programs: milliseconds rounded to the microsecond; null if unknown. */
export interface TraceSummary {
  commands: number;
  /** Reached the driver, including late ones. */
  applied: number;
  /** The part of `applied` that was applied after its due time. */
  late: number;
  dropped: number;
  rejected: number;
  lost: number;
  oneWayMs: Percentiles | null;
  variationMs: Percentiles | null;
  segmentsMs: Record<Segment, Percentiles | null>;
  /** Uncertainty (±) of the one-way and wire times. */
  clockUncertaintyMs: { max: number; last: number } | null;
  playoutDelayMs: Percentiles | null;
  queueDepth: Percentiles | null;
  /** Delay added by the hand filter, on top of the one-way time; null if nothing was filtered. */
  filterDelayMs: Percentiles | null;
  /** Before the sampling and after applied; null if unknown. */
  outerHopsMs: Record<OuterHop, Percentiles | null>;
  handToMotionMs: Percentiles | null;
  motionLatencyMs: Percentiles | null;
  /** From the robot's reading of a contact to the pulse that a person felt. */
  touchMs: Percentiles | null;
  /** Seconds judged one by one (docs/playout.md), which the percentiles above hide. */
  feel: FeelFigures;
}

export interface ReportBuilder {
  /** Records may be out of order by up to 4096 and from several sessions; the record is not retained. */
  add(record: TraceRecord): void;
  addMotion(motion: TraceMotion): void;
  addVideo(frame: VideoRecord): void;
  addTouch(touch: TouchRecord): void;
  /** May be called repeatedly, at any time. */
  finish(): TraceReport;
}

/** Uses constant memory for a run of any length. `withDetail` keeps what a drawing needs. */
export function createReport(withDetail = false): ReportBuilder {
  return new Accumulator(withDetail);
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
    outerHopsMs: Object.fromEntries(
      OUTER_HOPS.map((name) => [name, percentilesMs(report.outerHops[name].latencyNs)]),
    ) as Record<OuterHop, Percentiles | null>,
    handToMotionMs: percentilesMs(report.handToMotionNs),
    motionLatencyMs: percentilesMs(report.motionLatencyNs),
    touchMs: percentilesMs(report.touch?.totalNs ?? null),
    feel: feelFigures(report.feel),
  };
}

const APPLIED = OUTCOMES.indexOf('applied');
const LATE = OUTCOMES.indexOf('late');
const DROPPED = OUTCOMES.indexOf('dropped-stale');
const REJECTED = OUTCOMES.indexOf('rejected');
const WIRE = HOPS.indexOf('wire');

class Accumulator implements ReportBuilder {
  readonly #sequencer = new Sequencer((record, session) => this.#take(record, session));
  readonly #feel = new FeelMeter();
  readonly #detail: ReportDetailBuilder | null;
  readonly #video = new VideoReportBuilder();
  readonly #touch = new TouchReportBuilder();
  readonly #byOutcome = OUTCOMES.map(() => 0);
  readonly #rejectedBy: Record<string, number> = {};
  readonly #sessions = new Map<number, { firstNs: number; lastNs: number }>();
  readonly #oneWay = new Distribution();
  readonly #hops = HOPS.map(() => new Distribution());
  readonly #lateness = new Quantiles();
  readonly #playout = new Quantiles();
  readonly #depth = new Quantiles();
  readonly #bunches = new Bunches();
  readonly #droppedWire = new Quantiles();
  readonly #filterDelay = new Quantiles();
  readonly #handToMotion = new Quantiles();
  readonly #motionLatency = new Quantiles();
  readonly #scratch = new Float64Array(HOPS.length);
  #session = -1;
  #moved = 0;
  #unsynchronized = 0;
  #withoutKernel = 0;
  #withoutRelease = 0;
  #uncertaintyMaxNs = Number.NEGATIVE_INFINITY;
  #uncertaintyLastNs = Number.NaN;

  constructor(withDetail: boolean) {
    this.#detail = withDetail ? new ReportDetailBuilder() : null;
  }

  add(record: TraceRecord): void {
    if (!Number.isNaN(record.uncertaintyNs)) this.#uncertaintyLastNs = record.uncertaintyNs;
    this.#sequencer.push(record);
  }

  addMotion(motion: TraceMotion): void {
    this.#motionLatency.add(motion.latencyNs);
    this.#detail?.addMotion(motion);
  }

  addVideo(frame: VideoRecord): void {
    this.#video.add(frame);
  }

  addTouch(touch: TouchRecord): void {
    this.#touch.add(touch);
  }

  finish(): TraceReport {
    this.#sequencer.flush();
    this.#feel.finish();
    const [applied = 0, late = 0, dropped = 0, lost = 0, rejected = 0] = this.#byOutcome;
    const commands = applied + late + dropped + lost + rejected;
    const uncertainty = { max: this.#uncertaintyMaxNs, last: this.#uncertaintyLastNs };
    const feel = this.#feel.verdict();
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
      sessionStartsNs: Array.from(this.#sessions.values(), ({ firstNs }) => firstNs),
      durationNs: this.#durationNs(),
      oneWay: this.#oneWay.report(),
      segments: this.#reportOf(SEGMENTS),
      bunches: this.#bunches.figures(),
      droppedWireNs: this.#droppedWire.percentiles(),
      playoutDelayNs: this.#playout.percentiles(),
      playoutLatenessNs: this.#lateness.percentiles(),
      clockUncertaintyNs: Number.isNaN(uncertainty.last) ? null : uncertainty,
      queueDepth: this.#depth.percentiles(),
      filterDelayNs: this.#filterDelay.percentiles(),
      outerHops: this.#reportOf(OUTER_HOPS),
      handToMotionNs: this.#handToMotion.percentiles(),
      moved: this.#moved,
      motionLatencyNs: this.#motionLatency.percentiles(),
      feel,
      video: this.#video.finish(),
      touch: this.#touch.finish(),
      isExact: this.#oneWay.latency.isExact,
      detail:
        this.#detail?.finish(this.#oneWay.latency, (hop) => this.#hops[HOPS.indexOf(hop)]!.latency) ?? null,
    };
  }

  #reportOf<H extends Hop>(names: readonly H[]): Record<H, SegmentReport> {
    return Object.fromEntries(
      names.map((name) => [name, this.#hops[HOPS.indexOf(name)]!.report()]),
    ) as Record<H, SegmentReport>;
  }

  /** In send order. */
  #take(record: TraceRecord, session: number): void {
    if (session !== this.#session) this.#beginSession(session);
    this.#touchSession(record);
    this.#feel.add(record, session);
    this.#bunches.add(record);
    this.#byOutcome[record.outcome] = this.#byOutcome[record.outcome]! + 1;
    if (Number.isNaN(record.offsetNs)) this.#unsynchronized++;
    if (record.uncertaintyNs > this.#uncertaintyMaxNs) this.#uncertaintyMaxNs = record.uncertaintyNs;
    this.#depth.add(record.queueDepth);
    this.#playout.add(record.playoutDelayNs);
    hopsNs(record, this.#scratch);
    this.#detail?.add(record, session, this.#scratch);
    if (record.outcome === APPLIED || record.outcome === LATE) this.#addApplied(record);
    else if (record.outcome === DROPPED) this.#droppedWire.add(this.#scratch[WIRE]!);
    else if (record.outcome === REJECTED) {
      const reason = REASONS[record.reason] ?? 'unknown';
      this.#rejectedBy[reason] = (this.#rejectedBy[reason] ?? 0) + 1;
    }
  }

  #addApplied(record: TraceRecord): void {
    this.#oneWay.add(oneWayNs(record));
    for (let i = 0; i < this.#hops.length; i++) this.#hops[i]!.add(this.#scratch[i]!);
    this.#lateness.add(Math.round(record.appliedNs) - Math.round(record.dueNs));
    this.#filterDelay.add(Math.round(record.filterDelayNs));
    this.#handToMotion.add(handToMotionNs(record));
    if (!Number.isNaN(record.movedNs)) this.#moved++;
    if (Number.isNaN(record.kernelNs)) this.#withoutKernel++;
    if (Number.isNaN(record.releasedNs)) this.#withoutRelease++;
  }

  #beginSession(session: number): void {
    this.#session = session;
    this.#oneWay.restart();
    this.#bunches.restart();
    for (const hop of this.#hops) hop.restart();
  }

  #touchSession(record: TraceRecord): void {
    const known = this.#sessions.get(record.session);
    if (known === undefined) {
      this.#sessions.set(record.session, { firstNs: record.sampledNs, lastNs: record.sampledNs });
      return;
    }
    known.firstNs = Math.min(known.firstNs, record.sampledNs);
    known.lastNs = Math.max(known.lastNs, record.sampledNs);
  }

  #durationNs(): number {
    let sumNs = 0;
    for (const { firstNs, lastNs } of this.#sessions.values())
      if (lastNs > firstNs) sumNs += lastNs - firstNs;
    return sumNs;
  }
}
