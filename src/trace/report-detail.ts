import { NS_PER_S } from '../core/time/clock.ts';
import { HOPS, type Hop, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import type { Quantiles } from './quantiles.ts';
import { oneWayNs } from './segments.ts';
import type { TraceMotion } from './stamps.ts';

/** A time bin for drawing. Times are nanoseconds on the drawing's axis. */
export interface TimeBin {
  startNs: number;
  endNs: number;
  commands: number;
  applied: number;
  /** One-way latency: median, 95th percentile and maximum of its seconds; NaN if nothing was applied. */
  p50Ns: number;
  p95Ns: number;
  maxNs: number;
  playoutNs: number;
  /** The median duration of each hop, in the order of HOPS. */
  hopsNs: Float64Array;
}

export interface WorstCommand {
  seq: number;
  session: number;
  atNs: number;
  oneWayNs: number;
  outcome: string;
  hopsNs: number[];
  uncertaintyNs: number;
}

export interface Histogram {
  /** Ascending; one element more than `counts`. */
  edgesNs: number[];
  counts: number[];
}

export interface ReportDetail {
  bins: TimeBin[];
  worst: WorstCommand[];
  oneWay: Histogram;
  hops: Partial<Record<Hop, Histogram>>;
  motion: { atNs: number; latencyNs: number; confidence: number }[];
  /** Converts a session's operator time to the axis of the drawing, on which sessions follow each other. */
  toAxisNs(session: number, operatorNs: number): number;
}

const BIN_NS = NS_PER_S;
const MAX_BINS = 1440;
const WORST = 20;
const WORST_PER_SECOND = 3;
const SESSION_GAP_NS = 2 * NS_PER_S;
const MAX_MOTION = 4096;
const HISTOGRAM_BINS = 48;

/** Collects what a drawing of a run needs, in bounded memory; records come in send order. */
export class ReportDetailBuilder {
  readonly #axes: { firstNs: number; baseNs: number; lastNs: number }[] = [];
  #bins: TimeBin[] = [];
  #widthNs = BIN_NS;
  #open: { second: number; session: number; values: number[][]; commands: number } | null = null;
  readonly #worst: WorstCommand[] = [];
  #motion: TraceMotion[] = [];

  add(record: TraceRecord, session: number, hopsNs: Float64Array): void {
    const axis = this.#axisOf(session, record.sampledNs);
    const atNs = record.sampledNs - axis.firstNs + axis.baseNs;
    const second = Math.floor(atNs / BIN_NS);
    if (this.#open === null || this.#open.second !== second) this.#openSecond(second, session);
    this.#open!.commands++;
    const outcome = OUTCOMES[record.outcome]!;
    if (outcome !== 'applied' && outcome !== 'late') return;
    const totalNs = oneWayNs(record);
    this.#open!.values.push([totalNs, record.playoutDelayNs, ...hopsNs]);
    if (this.#worst.length < WORST || totalNs > this.#worst.at(-1)!.oneWayNs)
      this.#keepWorst(record, session, atNs, totalNs, hopsNs);
  }

  addMotion(motion: TraceMotion): void {
    this.#motion.push(motion);
    if (this.#motion.length >= 2 * MAX_MOTION) this.#motion = this.#motion.filter((_, i) => i % 2 === 0);
  }

  finish(oneWay: Quantiles, hop: (name: Hop) => Quantiles): ReportDetail {
    this.#closeSecond();
    const axes = this.#axes.map((axis) => ({ ...axis }));
    const toAxisNs = (session: number, ns: number) => ns - axes[session]!.firstNs + axes[session]!.baseNs;
    const onAxis = (ns: number) =>
      axes.findIndex(({ firstNs, lastNs }) => ns >= firstNs && ns <= lastNs + 5e9);
    return {
      bins: [...this.#bins],
      worst: [...this.#worst],
      oneWay: histogramOf(oneWay),
      hops: Object.fromEntries(
        HOPS.filter((name) => hop(name).count > 0).map((name) => [name, histogramOf(hop(name))]),
      ),
      motion: this.#motion
        .filter(({ atNs }) => onAxis(atNs) >= 0)
        .map(({ atNs, ...rest }) => ({ ...rest, atNs: toAxisNs(onAxis(atNs), atNs) })),
      toAxisNs,
    };
  }

  #axisOf(session: number, sampledNs: number): { firstNs: number; baseNs: number; lastNs: number } {
    let axis = this.#axes[session];
    if (axis === undefined) {
      const before = this.#axes.at(-1);
      const baseNs =
        before === undefined
          ? 0
          : Math.ceil((before.baseNs + before.lastNs - before.firstNs + SESSION_GAP_NS) / BIN_NS) * BIN_NS;
      axis = { firstNs: sampledNs, baseNs, lastNs: sampledNs };
      this.#axes[session] = axis;
    }
    if (sampledNs > axis.lastNs) axis.lastNs = sampledNs;
    return axis;
  }

  #openSecond(second: number, session: number): void {
    this.#closeSecond();
    this.#open = { second, session, values: [], commands: 0 };
  }

  #closeSecond(): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    const column = (c: number) =>
      Float64Array.from(open.values, (row) => row[c]!)
        .filter(Number.isFinite)
        .sort();
    const oneWay = column(0);
    const rank = (sorted: Float64Array, q: number) =>
      sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
    this.#push({
      startNs: open.second * BIN_NS,
      endNs: (open.second + 1) * BIN_NS,
      commands: open.commands,
      applied: open.values.length,
      p50Ns: rank(oneWay, 0.5),
      p95Ns: rank(oneWay, 0.95),
      maxNs: rank(oneWay, 1),
      playoutNs: rank(column(1), 0.5),
      hopsNs: Float64Array.from(HOPS, (_, i) => rank(column(2 + i), 0.5)),
    });
  }

  /** Beyond the limit, neighbouring bins are merged and new bins are twice as wide. */
  #push(second: TimeBin): void {
    const last = this.#bins.at(-1);
    const slot = (ns: number) => Math.floor(ns / this.#widthNs);
    if (last !== undefined && slot(last.startNs) === slot(second.startNs)) {
      this.#bins[this.#bins.length - 1] = joined(last, second);
      return;
    }
    this.#bins.push(second);
    if (this.#bins.length <= MAX_BINS) return;
    this.#widthNs *= 2;
    const before = this.#bins;
    this.#bins = [];
    for (const bin of before) {
      const previous = this.#bins.at(-1);
      if (previous !== undefined && slot(previous.startNs) === slot(bin.startNs))
        this.#bins[this.#bins.length - 1] = joined(previous, bin);
      else this.#bins.push(bin);
    }
  }

  #keepWorst(
    record: TraceRecord,
    session: number,
    atNs: number,
    totalNs: number,
    hopsNs: Float64Array,
  ): void {
    const near = this.#worst.filter((other) => Math.abs(other.atNs - atNs) < NS_PER_S / 2);
    if (near.length >= WORST_PER_SECOND) {
      const least = near.at(-1)!;
      if (totalNs <= least.oneWayNs) return;
      this.#worst.splice(this.#worst.indexOf(least), 1);
    }
    const kept: WorstCommand = {
      seq: record.seq,
      session,
      atNs,
      oneWayNs: totalNs,
      outcome: OUTCOMES[record.outcome]!,
      hopsNs: [...hopsNs],
      uncertaintyNs: record.uncertaintyNs,
    };
    if (Number.isNaN(totalNs)) return;
    let at = this.#worst.length;
    while (at > 0 && this.#worst[at - 1]!.oneWayNs < totalNs) at--;
    this.#worst.splice(at, 0, kept);
    if (this.#worst.length > WORST) this.#worst.pop();
  }
}

/** Keeps the larger extremes; medians are weighted by the number of applied commands. */
function joined(a: TimeBin, b: TimeBin): TimeBin {
  const share = a.applied / (a.applied + b.applied);
  const usual = (x: number, y: number) =>
    Number.isNaN(x) ? y : Number.isNaN(y) ? x : x * share + y * (1 - share);
  const most = (x: number, y: number) => (Number.isNaN(x) || y > x ? y : x);
  return {
    startNs: a.startNs,
    endNs: b.endNs,
    commands: a.commands + b.commands,
    applied: a.applied + b.applied,
    p50Ns: usual(a.p50Ns, b.p50Ns),
    p95Ns: most(a.p95Ns, b.p95Ns),
    maxNs: most(a.maxNs, b.maxNs),
    playoutNs: usual(a.playoutNs, b.playoutNs),
    hopsNs: a.hopsNs.map((x, i) => usual(x, b.hopsNs[i]!)),
  };
}

/** Equal logarithmic steps from the smallest to the largest value, nothing below a microsecond. */
function histogramOf(values: Quantiles): Histogram {
  const low = Math.max(1000, values.quantile(0.0001));
  const high = Math.max(low * 2, values.quantile(1) * 1.0001);
  const step = Math.log(high / low) / HISTOGRAM_BINS;
  const edgesNs = Array.from({ length: HISTOGRAM_BINS + 1 }, (_, i) => low * Math.exp(i * step));
  return { edgesNs, counts: values.counts([Number.NEGATIVE_INFINITY, ...edgesNs.slice(1)]) };
}
