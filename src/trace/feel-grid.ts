import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import { Judge, type Tick } from './feel-judge.ts';

/** Seconds of a session that only warm it up. */
const WARM_S = 10;
/** After a halt, the time in which the robot follows nobody counts as bad, up to this long. */
const HALTED_NS = 10 * NS_PER_S;
/** Ticks of a session that ended before its period was known. */
const DEFAULT_TICK_NS = 10 * NS_PER_MS;

/**
 * The tick grid of a session, passed to two judges. Every tick is on it: someone drives, nobody does, or nobody
 * can because the robot halted. Windows therefore stay where they are, whatever happens in between.
 */
export class FeelGrid {
  readonly byMedian: Judge;
  readonly byPlan: Judge;
  #session = -1;
  #tickNs = Number.NaN;
  #windowTicks = 0;
  #passed = 0;
  #lastNs = 0;
  #haltDue = -1;
  #haltedUntilNs = Number.NEGATIVE_INFINITY;
  #haltedCause = -1;
  readonly #away: Tick = { atNs: 0, latencyNs: Number.NaN, halt: -1 };

  constructor(keepWindows: number) {
    this.byMedian = new Judge(keepWindows);
    this.byPlan = new Judge(keepWindows);
  }

  begin(session: number): void {
    this.end();
    this.#session = session;
    this.#tickNs = Number.NaN;
    this.#windowTicks = this.#passed = 0;
    this.#haltDue = this.#haltedCause = -1;
    this.#haltedUntilNs = Number.NEGATIVE_INFINITY;
  }

  /** The period of the session is known; the ticks so far were part of the warm-up. */
  start(tickNs: number, atNs: number): void {
    if (this.#windowTicks > 0) return;
    this.#tickNs = tickNs;
    this.#windowTicks = Math.max(2, Math.round(NS_PER_S / tickNs));
    this.byMedian.begin(this.#windowTicks, this.#session);
    this.byPlan.begin(this.#windowTicks, this.#session);
    const early = this.#passed;
    this.#passed = 0;
    this.skip(early, atNs - early * tickNs);
  }

  get isExcused(): boolean {
    return this.#passed < WARM_S * this.#windowTicks || this.#windowTicks === 0;
  }

  /** Someone drives at this tick. */
  drive(tick: Tick, medianNs: number, planNs: number, causeOf: (isLate: boolean) => number): void {
    const { isExcused } = this;
    this.#passed++;
    this.#lastNs = tick.atNs;
    if (this.#windowTicks === 0) {
      if (tick.halt >= 0) this.#haltDue = tick.halt;
      return;
    }
    if (tick.halt < 0) tick.halt = this.#takeHalt();
    this.byMedian.add(tick, medianNs, isExcused, causeOf);
    this.byPlan.add(tick, planNs, isExcused, causeOf);
  }

  /** Nobody drives for `count` ticks after `fromNs`. Whole seconds in which nothing can be bad are skipped. */
  skip(count: number, fromNs: number): void {
    if (this.#windowTicks === 0) {
      this.#passed += count;
      this.#lastNs = fromNs;
      return;
    }
    const toJudge =
      Math.ceil(Math.max(0, this.#haltedUntilNs - fromNs) / this.#tickNs) + 2 * this.#windowTicks;
    const rest = Math.max(0, count - toJudge);
    this.#passed += rest - (rest % this.#windowTicks);
    const left = Math.min(count, toJudge) + (rest % this.#windowTicks);
    for (let i = 1; i <= left; i++) this.away(fromNs + i * this.#tickNs);
  }

  /** Nobody drives at this tick, perhaps because the robot halted. */
  away(atNs: number): void {
    const { isExcused } = this;
    this.#passed++;
    this.#lastNs = atNs;
    if (this.#windowTicks === 0) return;
    this.#away.atNs = atNs;
    this.#away.halt = this.#takeHalt();
    const cause = atNs < this.#haltedUntilNs ? this.#haltedCause : this.#away.halt;
    this.byMedian.away(this.#away, isExcused, cause);
    this.byPlan.away(this.#away, isExcused, cause);
  }

  /** The robot halted: the next tick is bad, and if someone was driving, so is the time until it follows. */
  halt(atNs: number, cause: number, wasDriving: boolean): void {
    this.#haltDue = cause;
    if (!wasDriving && !this.isHalted(atNs)) return;
    this.#haltedUntilNs = atNs + HALTED_NS;
    this.#haltedCause = cause;
  }

  isHalted(atNs: number): boolean {
    return atNs < this.#haltedUntilNs;
  }

  /** It follows again. */
  resume(): void {
    this.#haltedUntilNs = Number.NEGATIVE_INFINITY;
  }

  end(): void {
    if (this.#windowTicks === 0 && this.#haltDue >= 0) this.start(DEFAULT_TICK_NS, this.#lastNs);
    if (this.#haltDue >= 0) this.away(this.#lastNs);
    this.byMedian.end();
    this.byPlan.end();
  }

  #takeHalt(): number {
    const halt = this.#haltDue;
    this.#haltDue = -1;
    return halt;
  }
}
