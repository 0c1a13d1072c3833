import { REASONS, type Reason } from '../core/counters.ts';
import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import { HALTS, OUTCOMES, SEGMENTS, type TraceRecord } from '../messages/trace-record.ts';
import { Blame, CAUSES, type Cause } from './feel-cause.ts';
import { FeelGrid } from './feel-grid.ts';
import type { BadSpell, Tick, WindowVerdict } from './feel-judge.ts';
import { segmentsNs } from './segments.ts';

/** How a run felt, second by second, which percentiles over the run hide. Rules: `docs/playout.md`. */
export interface FeelFigures {
  /** Seconds in which someone was driving or the robot halted. */
  windows: number;
  badWindows: number;
  strictWindows: number;
  longestLateRun: number;
  /** Times the robot went to hold, and to a latched stop, without a person asking for it. */
  holds: number;
  stops: number;
  /** Commands rejected because of the network, a stall, or such a halt. */
  refused: number;
}

export interface Feel extends FeelFigures {
  spells: BadSpell[];
  spellsLeftOut: number;
  /** The newest windows, in the phase that starts with the session. */
  seconds: WindowVerdict[];
  /** For each window counted in `badWindows`, 1 if it was bad; the newest ones. */
  flags: number[];
}

export function feelFigures(feel: FeelFigures): FeelFigures {
  const { windows, badWindows, strictWindows, longestLateRun, holds, stops, refused } = feel;
  return { windows, badWindows, strictWindows, longestLateRun, holds, stops, refused };
}

/** Halts and refusals in words; empty if there were none. */
export function haltsText({ holds, stops, refused }: FeelFigures): string {
  const counted = (n: number, one: string, many: string) => (n === 0 ? [] : [`${n} ${n === 1 ? one : many}`]);
  return [
    ...counted(holds, 'hold', 'holds'),
    ...counted(stops, 'latched stop', 'latched stops'),
    ...counted(refused, 'command refused', 'commands refused'),
  ].join(', ');
}

export interface FeelOptions {
  /** Windows kept for drawing; counting has no limit. Default 100 000. */
  keepWindows?: number;
}

/** Rejections that mean nobody was driving: not a tick of a motion. */
const IDLE: ReadonlySet<Reason | undefined> = new Set<Reason | undefined>([
  'not-engaged',
  'not-armed',
  'not-ready',
  'not-operator',
]);
/** The engagement was over: because of a halt if one is reported next, else because a person ended it. */
const ENDED: ReadonlySet<Reason | undefined> = new Set<Reason | undefined>([
  'old-engagement',
  'stopped',
  'wrong-epoch',
]);
/** Rejections that only the network or a stall can cause: one of them makes a second bad. */
const REFUSED: ReadonlySet<Reason | undefined> = new Set<Reason | undefined>([
  'too-old',
  'future-stamp',
  'dropped-queue-full',
  'rate-limited',
]);
const HALT_CAUSES: Record<string, Cause> = {
  silence: 'outage',
  stall: 'robot-stall',
  input: 'input',
  fault: 'fault',
};
/** Shorter than any operator goes on sending over a link that is down. */
const SILENCE_BEGINS_NS = 100 * NS_PER_MS;
const BREAK_NS = NS_PER_S;
const MAX_WARP_UP = 0.1;
const MAX_WARP_DOWN = 0.05;
const MEDIAN_HALF = 10;
const FLOOR_HALF = 25;
/** Ticks at the end of a stretch that no newer command can confirm. */
const TAIL = 5;
/** A tick may be early by this share of a period; the grid follows a slower clock gradually. */
const EARLY = 0.15;
const DRIFT = 0.02;
const GAPS = 101;
/** Operators tick at 1 kHz at most, so a shorter period is not an operator's. */
const MIN_TICK_NS = 0.5 * NS_PER_MS;
const SLOTS = 128;
const PENDING = 4096;
const SEGMENT_COUNT = SEGMENTS.length;
const LOST = CAUSES.indexOf('lost');
const APPLY = CAUSES.indexOf('apply');
const DROPPED = CAUSES.indexOf('dropped');
const REJECTED = CAUSES.indexOf('rejected');
const MISSED = CAUSES.indexOf('missed-tick');
const LATE_WAKE = CAUSES.indexOf('late-wake');
/** A wake-up this late, or a segment this much longer than usual, is reported as a cause. */
const NOTABLE_NS = 2 * NS_PER_MS;

/**
 * Judges a stream of commands in send order, in constant memory. Ticks pass through two stages: the effective
 * latency needs the next applied command; the running target needs the surrounding ticks.
 */
export class FeelMeter {
  readonly #grid: FeelGrid;
  readonly #blame = new Blame();
  readonly #segments = new Float64Array(SEGMENT_COUNT);
  // Ticks without an effective latency yet.
  readonly #pendingNs = new Float64Array(PENDING);
  readonly #pendingCause = new Int8Array(PENDING);
  readonly #pendingHalt = new Int8Array(PENDING);
  #pending = 0;
  /** From this pending tick on, the robot rejected them because their engagement was over. */
  #endedFrom = Number.POSITIVE_INFINITY;
  // Ticks with one, around the tick being judged.
  readonly #atNs = new Float64Array(SLOTS);
  readonly #latencyNs = new Float64Array(SLOTS);
  readonly #planNs = new Float64Array(SLOTS);
  readonly #cause = new Int8Array(SLOTS);
  readonly #halt = new Int8Array(SLOTS);
  readonly #slotSegments = new Float64Array(SLOTS * SEGMENT_COUNT);
  #ready = 0;
  #judged = 0;
  #planLastNs = Number.NEGATIVE_INFINITY;
  readonly #near = new Float64Array(2 * MEDIAN_HALF + 1);
  #medianTargetNs = Number.NaN;
  #planTargetNs = Number.NaN;
  readonly #gapsNs = new Float64Array(GAPS);
  #gaps = 0;
  #tickNs = Number.NaN;
  #gridNs = 0;
  #session = -1;
  #previousNs = Number.NaN;
  #inStretch = false;
  #holds = 0;
  #stops = 0;
  #refused = 0;
  readonly #tick: Tick = { atNs: 0, latencyNs: 0, halt: -1 };

  constructor(options: FeelOptions = {}) {
    this.#grid = new FeelGrid(options.keepWindows ?? 100_000);
  }

  /**
   * `session` numbers the sessions; within one, records come in sequence order. The record is not retained.
   */
  add(record: TraceRecord, session: number): void {
    const { sampledNs } = record;
    if (session !== this.#session) this.#beginSession(session);
    const gapNs = sampledNs - this.#previousNs;
    if (gapNs > 0) this.#learnPeriod(gapNs, sampledNs);
    if (!Number.isNaN(record.halt)) this.#onHalt(record);
    if (!(gapNs < BREAK_NS || Number.isNaN(gapNs)) || gapNs <= 0) this.#endStretch();
    if (!this.#inStretch && gapNs > 0)
      this.#grid.skip(Math.max(0, Math.round(gapNs / this.#tickNs) - 1 || 0), this.#previousNs);
    this.#previousNs = sampledNs;
    this.#take(record);
  }

  #take(record: TraceRecord): void {
    const { sampledNs } = record;
    const outcome = OUTCOMES[record.outcome];
    const reason = outcome === 'rejected' ? REASONS[record.reason] : undefined;
    const isApplied = outcome === 'applied' || outcome === 'late' || outcome === 'dropped-stale';
    if (isApplied) this.#grid.resume();
    const isHalted = this.#grid.isHalted(sampledNs);
    if (isHalted && outcome === 'rejected' && !IDLE.has(reason)) this.#refused++;
    if (Number.isNaN(record.offsetNs) || isHalted || IDLE.has(reason)) return this.#away(sampledNs);
    if (ENDED.has(reason) && !this.#inStretch) return this.#away(sampledNs);
    this.#inStretch = true;
    this.#missTicks(sampledNs);
    if (outcome === 'applied' || outcome === 'late') this.#applied(record);
    else if (outcome === 'lost') this.#pend(sampledNs, LOST);
    else if (outcome !== 'rejected') this.#pend(sampledNs, this.#dropped(record));
    else this.#rejected(record, reason);
  }

  #rejected(record: TraceRecord, reason: Reason | undefined): void {
    if (ENDED.has(reason)) this.#endedFrom = Math.min(this.#endedFrom, this.#pending);
    const isRefused = REFUSED.has(reason);
    if (isRefused) this.#refused++;
    const cause = isRefused ? this.#slowest(record, REJECTED) : REJECTED;
    this.#pend(record.sampledNs, cause, isRefused ? cause : -1);
  }

  /** Nobody drives at this tick. */
  #away(sampledNs: number): void {
    this.#endStretch();
    this.#grid.away(sampledNs);
  }

  /** The robot halted before this command was sent: what it did not act on since counts as late. */
  #onHalt(record: TraceRecord): void {
    const [kind, why] = HALTS[record.halt]!.split(':') as [string, string];
    if (kind === 'hold') this.#holds++;
    else this.#stops++;
    const isOperators = why === 'silence' && this.#wasOperatorSilent(record);
    const cause = isOperators ? 'missed-tick' : HALT_CAUSES[why]!;
    const index = CAUSES.indexOf(cause);
    const wasDriving = this.#inStretch;
    if (wasDriving) {
      for (let i = this.#endedFrom; i < this.#pending; i++) {
        // A tick that was missed was not refused.
        if (this.#pendingCause[i] === REJECTED) this.#refused++;
        this.#pendingCause[i] = index;
      }
      this.#settle(record.sampledNs);
      this.#endStretch();
    }
    this.#grid.halt(Number.isNaN(this.#previousNs) ? record.sampledNs : this.#previousNs, index, wasDriving);
  }

  /**
   * Whether the operator missed more of the ticks with which the silence before the halt began than it sent in vain.
   * Later it may have stopped sending because the link was down.
   */
  #wasOperatorSilent({ haltNs, offsetNs, sampledNs }: TraceRecord): boolean {
    const haltedNs = Math.min(sampledNs, Number.isNaN(haltNs - offsetNs) ? sampledNs : haltNs - offsetNs);
    const beganNs = this.#pending > 0 ? this.#pendingNs[0]! : this.#previousNs;
    const untilNs = Math.min(haltedNs, beganNs + SILENCE_BEGINS_NS);
    let missed = Math.max(0, (untilNs - this.#previousNs) / this.#tickNs - 1);
    let sent = 0;
    for (let i = 0; i < this.#pending && this.#pendingNs[i]! < untilNs; i++)
      if (this.#pendingCause[i] === MISSED) missed++;
      else sent++;
    return missed > sent;
  }

  /** The run has ended or paused: judges what is still open. */
  finish(): void {
    this.#endStretch();
    this.#grid.end();
  }

  /** May be called at any time. */
  verdict(): Feel {
    const { byMedian: a, byPlan: b } = this.#grid;
    const planIsBetter =
      b.badWindows < a.badWindows || (b.badWindows === a.badWindows && b.strictWindows < a.strictWindows);
    const judge = planIsBetter ? b : a;
    const { windows, badWindows, strictWindows, longestLateRun, spells, spellsLeftOut, seconds } = judge;
    return {
      ...{ windows, badWindows, strictWindows, longestLateRun },
      holds: this.#holds,
      stops: this.#stops,
      refused: this.#refused,
      spells,
      spellsLeftOut,
      seconds,
      flags: judge.flags(),
    };
  }

  #beginSession(session: number): void {
    this.#endStretch();
    this.#grid.begin(session);
    this.#session = session;
    this.#previousNs = Number.NaN;
    this.#gaps = 0;
    this.#tickNs = Number.NaN;
  }

  #learnPeriod(gapNs: number, sampledNs: number): void {
    if (this.#gaps >= GAPS) return;
    this.#gapsNs[this.#gaps++] = gapNs;
    if (this.#gaps < GAPS) return;
    this.#tickNs = Math.max(MIN_TICK_NS, this.#gapsNs.slice().sort()[GAPS >> 1]!);
    this.#grid.start(this.#tickNs, sampledNs);
  }

  /**
   * Ticks lie on a grid and may only lag behind it, so a loop that wakes late is not one that missed a tick.
   */
  #missTicks(sampledNs: number): void {
    const isNew = this.#ready === 0 && this.#pending === 0;
    if (isNew || Number.isNaN(this.#tickNs)) {
      this.#gridNs = sampledNs;
      return;
    }
    const steps = Math.max(1, Math.floor((sampledNs - this.#gridNs) / this.#tickNs + EARLY));
    for (let i = 1; i < steps; i++) this.#pend(this.#gridNs + i * this.#tickNs, MISSED);
    const gridNs = this.#gridNs + steps * this.#tickNs;
    const lagNs = sampledNs - gridNs;
    this.#gridNs = gridNs + (lagNs < 0 ? lagNs : DRIFT * lagNs);
  }

  /**
   * Released and dropped: the driver was still busy with an earlier command. Arrived in time: it was due together
   * with a newer one. Otherwise it was late, for a reason that its stamps show.
   */
  #dropped(record: TraceRecord): number {
    if (!Number.isNaN(record.releasedNs)) return APPLY;
    return record.receiveNs <= record.dueNs ? LATE_WAKE : this.#slowest(record, DROPPED);
  }

  /** The segment that took notably longer than usual. */
  #slowest(record: TraceRecord, otherwise: number): number {
    segmentsNs(record, this.#segments);
    const segment = this.#blame.segmentOf(this.#segments, true);
    return segment >= 0 && this.#blame.excessNs(this.#segments, segment) > NOTABLE_NS ? segment : otherwise;
  }

  #pend(atNs: number, cause: number, halt = -1): void {
    if (this.#pending === PENDING) this.#settle(atNs);
    this.#pendingNs[this.#pending] = atNs;
    this.#pendingHalt[this.#pending] = halt;
    this.#pendingCause[this.#pending++] = cause;
  }

  #applied(record: TraceRecord): void {
    const appliedNs = record.appliedNs - record.offsetNs;
    this.#settle(appliedNs);
    segmentsNs(record, this.#segments);
    this.#blame.learn(this.#segments);
    const wokeLateNs = record.releasedNs - Math.max(record.dueNs, record.receiveNs);
    const cause = wokeLateNs > NOTABLE_NS ? LATE_WAKE : -1;
    this.#push(record.sampledNs, appliedNs - record.sampledNs, record.playoutDelayNs, cause);
  }

  /** The robot acted at `actedNs` on something newer than every pending tick. */
  #settle(actedNs: number, count = this.#pending): void {
    this.#segments.fill(Number.NaN);
    for (let i = 0; i < count; i++) {
      const atNs = this.#pendingNs[i]!;
      this.#push(atNs, actedNs - atNs, Number.NaN, this.#pendingCause[i]!, this.#pendingHalt[i]!);
    }
    this.#pending = 0;
    this.#endedFrom = Number.POSITIVE_INFINITY;
  }

  #push(atNs: number, latencyNs: number, playoutNs: number, cause: number, halt = -1): void {
    const at = this.#ready++ % SLOTS;
    if (!Number.isNaN(playoutNs)) this.#planLastNs = playoutNs;
    this.#atNs[at] = atNs;
    this.#latencyNs[at] = latencyNs;
    this.#planNs[at] = this.#planLastNs;
    this.#cause[at] = cause;
    this.#halt[at] = halt;
    this.#slotSegments.set(this.#segments, at * SEGMENT_COUNT);
    if (this.#ready - this.#judged > FLOOR_HALF) this.#judgeNext();
  }

  #endStretch(): void {
    if (!this.#inStretch) return;
    // What a person ended is not judged, nor are a few last commands that nothing newer confirms.
    const ticks = this.#pending;
    const open = Math.min(ticks, this.#endedFrom);
    const isKept = open > TAIL || this.#pendingHalt.subarray(0, open).some((halt) => halt >= 0);
    const kept = isKept ? open : 0;
    this.#settle(this.#previousNs, kept);
    while (this.#judged < this.#ready) this.#judgeNext();
    for (let i = kept; i < ticks; i++) this.#grid.away(this.#pendingNs[i]!);
    this.#ready = this.#judged = 0;
    this.#medianTargetNs = Number.NaN;
    this.#planLastNs = Number.NEGATIVE_INFINITY;
    this.#inStretch = false;
  }

  #judgeNext(): void {
    const n = this.#judged++;
    const at = n % SLOTS;
    const medianNs = this.#medianAround(n);
    const plannedNs = Math.max(this.#planNs[at]!, this.#leastAround(n));
    const tick = this.#tick;
    tick.atNs = this.#atNs[at]!;
    tick.latencyNs = this.#latencyNs[at]!;
    tick.halt = this.#halt[at]!;
    // The operator adapts during the warm-up, and again at the beginning of a stretch.
    const isFree = this.#grid.isExcused || Number.isNaN(this.#medianTargetNs);
    this.#medianTargetNs = isFree ? medianNs : this.#slew(this.#medianTargetNs, medianNs);
    this.#planTargetNs = isFree ? plannedNs : this.#slew(this.#planTargetNs, plannedNs);
    const causeOf = (isLate: boolean) => this.#causeOf(at, isLate);
    this.#grid.drive(tick, this.#medianTargetNs, this.#planTargetNs, causeOf);
  }

  #causeOf(at: number, isLate: boolean): number {
    const known = this.#cause[at]!;
    if (known >= 0 && known !== LATE_WAKE) return known;
    const start = at * SEGMENT_COUNT;
    const segments = this.#slotSegments.subarray(start, start + SEGMENT_COUNT);
    if (Number.isNaN(segments[0]!)) return known;
    const segment = this.#blame.segmentOf(segments, isLate);
    return known === LATE_WAKE && SEGMENTS[segment] === 'playout' && isLate ? LATE_WAKE : segment;
  }

  #slew(fromNs: number, wantedNs: number): number {
    const up = MAX_WARP_UP * this.#tickNs;
    const down = MAX_WARP_DOWN * this.#tickNs;
    return fromNs + Math.max(-down, Math.min(up, wantedNs - fromNs));
  }

  #medianAround(n: number): number {
    let count = 0;
    const last = Math.min(this.#ready - 1, n + MEDIAN_HALF);
    for (let i = Math.max(0, n - MEDIAN_HALF); i <= last; i++) {
      const value = this.#latencyNs[i % SLOTS]!;
      let at = count++;
      for (; at > 0 && this.#near[at - 1]! > value; at--) this.#near[at] = this.#near[at - 1]!;
      this.#near[at] = value;
    }
    return this.#near[count >> 1]!;
  }

  #leastAround(n: number): number {
    let least = Number.POSITIVE_INFINITY;
    const last = Math.min(this.#ready - 1, n + FLOOR_HALF);
    for (let i = Math.max(0, n - FLOOR_HALF); i <= last; i++)
      if (this.#latencyNs[i % SLOTS]! < least) least = this.#latencyNs[i % SLOTS]!;
    return least;
  }
}
