import type { Percentiles } from '../core/statistics/percentiles.ts';
import { percentiles } from '../core/statistics/percentiles.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { HOPS, type Hop, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import { type FeelFigures, FeelMeter, feelFigures } from '../trace/feel.ts';
import { CAUSE_WORDS } from '../trace/feel-cause.ts';
import { percentilesMs, roundMs } from '../trace/milliseconds.ts';
import { Quantiles } from '../trace/quantiles.ts';
import { handToMotionNs, hopsNs, oneWayNs } from '../trace/segments.ts';
import { LIVE_HOLD_NS, Sequencer } from '../trace/sequencer.ts';
import type { TraceMotion } from '../trace/stamps.ts';

/** A second of the run, in milliseconds; null if nothing was applied. */
export interface ProfileSecond {
  atS: number;
  commands: number;
  p50Ms: number | null;
  p95Ms: number | null;
  maxMs: number | null;
  /** Median duration of each hop, in the order of `hops`. */
  hopsMs: (number | null)[];
  /** How many commands were off, null until judged, and whether that makes the second bad. */
  off: number | null;
  isBad: boolean;
}

/** Sent several times a second. Milliseconds; null if unknown. */
export interface ProfileSnapshot {
  kind: 'profile';
  file: string;
  playout: string;
  commands: number;
  outcomes: Record<string, number>;
  /** Commands a second over the last ten. */
  rateHz: number;
  hops: readonly Hop[];
  /** Over the last ten seconds, and since the profiler started reading. */
  oneWayMs: { now: Percentiles | null; run: Percentiles | null };
  variationMs: { now: Percentiles | null; run: Percentiles | null };
  hopsMs: Record<Hop, { now: Percentiles | null; run: Percentiles | null }>;
  handToMotionMs: { now: Percentiles | null; run: Percentiles | null };
  motionLatencyMs: number | null;
  motionConfidence: number | null;
  clockUncertaintyMs: number | null;
  feel: FeelFigures;
  /** The most recent bad periods. */
  spells: { atS: number; endS: number; worstMs: number; off: number; cause: string }[];
  seconds: ProfileSecond[];
  /** One-way time: bin edges in milliseconds, and commands per bin. */
  histogram: { edgesMs: number[]; counts: number[] };
}

const SECONDS = 120;
const NOW_S = 10;
const MAX_PER_SECOND = 1100;
const SPELLS = 8;
const HISTOGRAM = 40;

interface OpenSecond {
  second: number;
  commands: number;
  oneWay: number[];
  variation: number[];
  handToMotion: number[];
  hops: number[][];
}

/** Rolling figures of a live run, from its completed commands. No I/O, bounded memory. */
export class LiveProfile {
  #file = '';
  #playout = '';
  #sequencer!: Sequencer;
  #feel!: FeelMeter;
  #seconds: OpenSecond[] = [];
  #oneWay!: Quantiles;
  #variation!: Quantiles;
  #hops!: Quantiles[];
  #handToMotion!: Quantiles;
  #outcomes: Record<string, number> = {};
  #commands = 0;
  #previousNs = Number.NaN;
  #session = -1;
  #uncertaintyNs = Number.NaN;
  #motion: TraceMotion | null = null;
  readonly #scratch = new Float64Array(HOPS.length);

  constructor() {
    this.begin('', '');
  }

  begin(file: string, playout: string): void {
    this.#file = file;
    this.#playout = playout;
    this.#sequencer = new Sequencer((record, session) => this.#take(record, session), {
      holdNs: LIVE_HOLD_NS,
    });
    this.#feel = new FeelMeter({ keepWindows: SECONDS });
    this.#seconds = [];
    this.#oneWay = new Quantiles();
    this.#variation = new Quantiles();
    this.#hops = HOPS.map(() => new Quantiles());
    this.#handToMotion = new Quantiles();
    this.#outcomes = {};
    this.#commands = 0;
    this.#session = -1;
    this.#motion = null;
    this.#uncertaintyNs = Number.NaN;
  }

  add(record: TraceRecord): void {
    this.#sequencer.push(record);
  }

  addMotion(motion: TraceMotion): void {
    this.#motion = motion;
  }

  /** Call when the run has ended: releases the commands held back for ordering. */
  settle(): void {
    this.#sequencer.flush();
    this.#feel.finish();
  }

  snapshot(): ProfileSnapshot {
    const now = this.#seconds.slice(-NOW_S - 1, -1);
    const nowOf = (pick: (second: OpenSecond) => number[]) => percentilesMs(percentiles(now.flatMap(pick)));
    const feel = this.#feel.verdict();
    const motionIsFresh = this.#motion !== null && this.#newestNs - this.#motion.atNs < 5 * NS_PER_S;
    return {
      kind: 'profile',
      file: this.#file,
      playout: this.#playout,
      commands: this.#commands,
      outcomes: { ...this.#outcomes },
      rateHz:
        Math.round((10 * now.reduce((sum, { commands }) => sum + commands, 0)) / Math.max(1, now.length)) /
        10,
      hops: HOPS,
      oneWayMs: { now: nowOf(({ oneWay }) => oneWay), run: percentilesMs(this.#oneWay.percentiles()) },
      variationMs: {
        now: nowOf(({ variation }) => variation),
        run: percentilesMs(this.#variation.percentiles()),
      },
      hopsMs: Object.fromEntries(
        HOPS.map((hop, i) => [
          hop,
          { now: nowOf(({ hops }) => hops[i]!), run: percentilesMs(this.#hops[i]!.percentiles()) },
        ]),
      ) as ProfileSnapshot['hopsMs'],
      handToMotionMs: {
        now: nowOf(({ handToMotion }) => handToMotion),
        run: percentilesMs(this.#handToMotion.percentiles()),
      },
      motionLatencyMs: motionIsFresh ? roundMs(this.#motion!.latencyNs) : null,
      motionConfidence: motionIsFresh ? this.#motion!.confidence : null,
      clockUncertaintyMs: Number.isNaN(this.#uncertaintyNs) ? null : roundMs(this.#uncertaintyNs),
      feel: feelFigures(feel),
      spells: feel.spells.slice(-SPELLS).map((spell) => ({
        atS: spell.startNs / NS_PER_S,
        endS: spell.endNs / NS_PER_S,
        worstMs: roundMs(spell.worstNs),
        off: spell.deviating,
        cause: CAUSE_WORDS[spell.cause],
      })),
      seconds: this.#seconds.slice(0, -1).map((second) => this.#reportOf(second, feel.seconds)),
      histogram: this.#histogram(),
    };
  }

  #newestNs = 0;

  #take(record: TraceRecord, session: number): void {
    this.#feel.add(record, session);
    this.#commands++;
    this.#newestNs = record.sampledNs;
    if (!Number.isNaN(record.uncertaintyNs)) this.#uncertaintyNs = record.uncertaintyNs;
    const outcome = OUTCOMES[record.outcome]!;
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (session !== this.#session) this.#previousNs = Number.NaN;
    this.#session = session;
    const second = this.#secondOf(record.sampledNs);
    second.commands++;
    if (outcome !== 'applied' && outcome !== 'late') return;
    const totalNs = oneWayNs(record);
    const variationNs = Math.abs(totalNs - this.#previousNs);
    this.#previousNs = totalNs;
    hopsNs(record, this.#scratch);
    this.#oneWay.add(totalNs);
    this.#variation.add(variationNs);
    const wholeNs = handToMotionNs(record);
    this.#handToMotion.add(wholeNs);
    for (let i = 0; i < HOPS.length; i++) this.#hops[i]!.add(this.#scratch[i]!);
    if (second.oneWay.length >= MAX_PER_SECOND) return;
    second.oneWay.push(totalNs);
    second.variation.push(variationNs);
    second.handToMotion.push(wholeNs);
    for (let i = 0; i < HOPS.length; i++) second.hops[i]!.push(this.#scratch[i]!);
  }

  #secondOf(sampledNs: number): OpenSecond {
    const second = Math.floor(sampledNs / NS_PER_S);
    const last = this.#seconds.at(-1);
    if (last !== undefined && last.second === second) return last;
    const opened = {
      second,
      commands: 0,
      oneWay: [],
      variation: [],
      handToMotion: [],
      hops: HOPS.map(() => []),
    };
    this.#seconds.push(opened);
    if (this.#seconds.length > SECONDS + 1) this.#seconds.shift();
    return opened;
  }

  #reportOf(
    { second, commands, oneWay, hops }: OpenSecond,
    judged: readonly { startNs: number; deviating: number; isBad: boolean }[],
  ): ProfileSecond {
    const usual = percentilesMs(percentiles(oneWay));
    // Windows start with the engagement, not on full seconds: take the one that covers the middle of this second.
    const middleNs = (second + 0.5) * NS_PER_S;
    const window = judged.findLast(({ startNs }) => startNs <= middleNs && middleNs < startNs + NS_PER_S);
    return {
      atS: second,
      commands,
      p50Ms: usual?.p50 ?? null,
      p95Ms: usual?.p95 ?? null,
      maxMs: usual?.max ?? null,
      hopsMs: hops.map((values) => percentilesMs(percentiles(values))?.p50 ?? null),
      off: window?.deviating ?? null,
      isBad: window?.isBad ?? false,
    };
  }

  #histogram(): ProfileSnapshot['histogram'] {
    if (this.#oneWay.count === 0) return { edgesMs: [], counts: [] };
    const low = Math.max(1000, this.#oneWay.quantile(0.001));
    const high = Math.max(low * 2, this.#oneWay.quantile(1) * 1.001);
    const edgesNs = Array.from({ length: HISTOGRAM + 1 }, (_, i) => low * (high / low) ** (i / HISTOGRAM));
    const counts = this.#oneWay.counts([Number.NEGATIVE_INFINITY, ...edgesNs.slice(1)]);
    return { edgesMs: edgesNs.map(roundMs), counts };
  }
}
