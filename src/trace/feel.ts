import { REASONS, type Reason } from '../core/counters.ts';
import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import { OUTCOMES, SEGMENTS, type TraceRecord } from '../messages/trace-record.ts';
import { Blame, CAUSES } from './feel-cause.ts';
import { type BadSpell, Judge, type Tick, type WindowVerdict } from './feel-judge.ts';
import { segmentsNs } from './segments.ts';

/** How a run felt, second by second, which percentiles over the run hide. Rules: `docs/playout.md`. */
export interface Feel {
  /** Whole seconds judged. */
  windows: number;
  badWindows: number;
  strictWindows: number;
  longestLateRun: number;
  spells: BadSpell[];
  spellsLeftOut: number;
  /** The newest windows, in the phase that starts with the stretch. */
  seconds: WindowVerdict[];
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
  'old-engagement',
  'stopped',
  'wrong-epoch',
]);
const WARM_NS = 10 * NS_PER_S;
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
  readonly #byMedian: Judge;
  readonly #byPlan: Judge;
  readonly #blame = new Blame();
  readonly #segments = new Float64Array(SEGMENT_COUNT);
  // Ticks without an effective latency yet.
  readonly #pendingNs = new Float64Array(PENDING);
  readonly #pendingCause = new Int8Array(PENDING);
  #pending = 0;
  // Ticks with one, around the tick being judged.
  readonly #atNs = new Float64Array(SLOTS);
  readonly #latencyNs = new Float64Array(SLOTS);
  readonly #planNs = new Float64Array(SLOTS);
  readonly #cause = new Int8Array(SLOTS);
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
  /** Ticks of the session, and those before the stretch. */
  #ticks = 0;
  #firstTick = 0;
  #previousNs = Number.NaN;
  #inStretch = false;
  #judging = false;
  #stretchTicks = 0;
  #windows = 0;
  readonly #tick: Tick = { atNs: 0, latencyNs: 0, cause: -1 };

  constructor(options: FeelOptions = {}) {
    const keep = options.keepWindows ?? 100_000;
    this.#byMedian = new Judge(keep);
    this.#byPlan = new Judge(keep);
  }

  /**
   * `session` numbers the sessions; within one, records come in sequence order. The record is not retained.
   */
  add(record: TraceRecord, session: number): void {
    const { sampledNs } = record;
    if (session !== this.#session) this.#beginSession(session);
    const gapNs = sampledNs - this.#previousNs;
    this.#previousNs = sampledNs;
    if (gapNs > 0) this.#learnPeriod(gapNs);
    if (!isDriving(record) || !(gapNs < BREAK_NS || Number.isNaN(gapNs)) || gapNs <= 0) this.#endStretch();
    if (!isDriving(record)) {
      this.#ticks++;
      return;
    }
    if (!this.#inStretch) this.#firstTick = this.#ticks;
    this.#inStretch = true;
    this.#missTicks(sampledNs);
    const outcome = OUTCOMES[record.outcome];
    if (outcome === 'applied' || outcome === 'late') this.#applied(record);
    else
      this.#pend(
        sampledNs,
        outcome === 'lost' ? LOST : outcome === 'rejected' ? REJECTED : this.#dropped(record),
      );
  }

  /** The run has ended or paused: judges what is still open. */
  finish(): void {
    this.#endStretch();
  }

  /** May be called at any time. */
  verdict(): Feel {
    const [a, b] = [this.#byMedian, this.#byPlan];
    const planIsBetter =
      b.badWindows < a.badWindows || (b.badWindows === a.badWindows && b.strictWindows < a.strictWindows);
    const judge = planIsBetter ? b : a;
    return {
      windows: this.#windows,
      badWindows: judge.badWindows,
      strictWindows: judge.strictWindows,
      longestLateRun: judge.longestLateRun,
      spells: judge.spells,
      spellsLeftOut: judge.spellsLeftOut,
      seconds: judge.windows,
    };
  }

  #beginSession(session: number): void {
    this.#endStretch();
    this.#session = session;
    this.#ticks = 0;
    this.#previousNs = Number.NaN;
    this.#gaps = 0;
    this.#tickNs = Number.NaN;
  }

  #learnPeriod(gapNs: number): void {
    if (this.#gaps >= GAPS) return;
    this.#gapsNs[this.#gaps++] = gapNs;
    if (this.#gaps === GAPS) this.#tickNs = Math.max(MIN_TICK_NS, this.#gapsNs.slice().sort()[GAPS >> 1]!);
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
    if (record.receiveNs <= record.dueNs) return LATE_WAKE;
    segmentsNs(record, this.#segments);
    const segment = this.#blame.segmentOf(this.#segments, true);
    return segment >= 0 && this.#blame.excessNs(this.#segments, segment) > NOTABLE_NS ? segment : DROPPED;
  }

  #pend(atNs: number, cause: number): void {
    if (this.#pending === PENDING) this.#settle(atNs, false);
    this.#pendingNs[this.#pending] = atNs;
    this.#pendingCause[this.#pending++] = cause;
  }

  #applied(record: TraceRecord): void {
    const appliedNs = record.appliedNs - record.offsetNs;
    this.#settle(appliedNs, false);
    segmentsNs(record, this.#segments);
    this.#blame.learn(this.#segments);
    const wokeLateNs = record.releasedNs - Math.max(record.dueNs, record.receiveNs);
    const cause = wokeLateNs > NOTABLE_NS ? LATE_WAKE : -1;
    this.#push(record.sampledNs, appliedNs - record.sampledNs, record.playoutDelayNs, cause);
  }

  /** The robot acted at `actedNs` on something newer than every pending tick. */
  #settle(actedNs: number, isTail: boolean): void {
    const count = isTail && this.#pending <= TAIL ? 0 : this.#pending;
    this.#segments.fill(Number.NaN);
    for (let i = 0; i < count; i++)
      this.#push(this.#pendingNs[i]!, actedNs - this.#pendingNs[i]!, Number.NaN, this.#pendingCause[i]!);
    this.#pending = 0;
  }

  #push(atNs: number, latencyNs: number, playoutNs: number, cause: number): void {
    this.#ticks++;
    const at = this.#ready++ % SLOTS;
    if (!Number.isNaN(playoutNs)) this.#planLastNs = playoutNs;
    this.#atNs[at] = atNs;
    this.#latencyNs[at] = latencyNs;
    this.#planNs[at] = this.#planLastNs;
    this.#cause[at] = cause;
    this.#slotSegments.set(this.#segments, at * SEGMENT_COUNT);
    if (this.#ready - this.#judged > FLOOR_HALF) this.#judgeNext();
  }

  #endStretch(): void {
    if (!this.#inStretch) return;
    this.#settle(this.#previousNs, true);
    while (this.#judged < this.#ready) this.#judgeNext();
    this.#byMedian.end();
    this.#byPlan.end();
    this.#ready = this.#judged = this.#stretchTicks = 0;
    this.#planLastNs = Number.NEGATIVE_INFINITY;
    this.#inStretch = this.#judging = false;
  }

  #judgeNext(): void {
    const n = this.#judged++;
    const at = n % SLOTS;
    const medianNs = this.#medianAround(n);
    const plannedNs = Math.max(this.#planNs[at]!, this.#leastAround(n));
    const tick = this.#tick;
    tick.atNs = this.#atNs[at]!;
    tick.latencyNs = this.#latencyNs[at]!;
    if (!this.#judging) {
      this.#medianTargetNs = medianNs;
      this.#planTargetNs = plannedNs;
      if (!(this.#firstTick + n >= Math.round(WARM_NS / this.#tickNs))) return;
      this.#judging = true;
      const windowTicks = Math.max(2, Math.round(NS_PER_S / this.#tickNs));
      this.#byMedian.begin(windowTicks, this.#session);
      this.#byPlan.begin(windowTicks, this.#session);
    }
    this.#medianTargetNs = this.#slew(this.#medianTargetNs, medianNs);
    this.#planTargetNs = this.#slew(this.#planTargetNs, plannedNs);
    if (++this.#stretchTicks % Math.round(NS_PER_S / this.#tickNs) === 0) this.#windows++;
    const causeOf = (isLate: boolean) => this.#causeOf(at, isLate);
    this.#byMedian.add(tick, this.#medianTargetNs, causeOf);
    this.#byPlan.add(tick, this.#planTargetNs, causeOf);
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

function isDriving(record: TraceRecord): boolean {
  if (Number.isNaN(record.offsetNs)) return false;
  return OUTCOMES[record.outcome] !== 'rejected' || !IDLE.has(REASONS[record.reason]);
}
