import { NS_PER_MS } from '../core/time/clock.ts';
import { CAUSES, type Cause } from './feel-cause.ts';

const THRESHOLD_NS = 10.5 * NS_PER_MS;
/** Share of a second's ticks: 6 of 100. */
const BAD_SHARE = 0.06;
const PHASES = 10;
const MAX_SPELLS = 2000;
// Kinds of ticks.
const [AWAY, EXCUSED, DRIVING, HALTED] = [0, 1, 2, 3] as const;

/** The verdict on one second. */
export interface WindowVerdict {
  /** Number of the session, in order of appearance. */
  session: number;
  /** Its first tick, operator clock. */
  startNs: number;
  endNs: number;
  /** Of the ticks at which someone was driving; NaN if there were none. */
  p50Ns: number;
  p95Ns: number;
  maxNs: number;
  /** Number of ticks, out of `ticks`, that are more than 10.5 ms from the running target or had no effect. */
  deviating: number;
  ticks: number;
  isBad: boolean;
  /** Two consecutive deviating ticks. */
  isStrict: boolean;
  cause: Cause | null;
}

/** A bad period: overlapping bad seconds, in any phase. */
export interface BadSpell {
  session: number;
  startNs: number;
  endNs: number;
  deviating: number;
  worstNs: number;
  /** The cause of a halt in it, else of most of its deviating ticks; and the share of that cause. */
  cause: Cause;
  share: number;
}

export interface Tick {
  atNs: number;
  /** NaN: nobody was driving. */
  latencyNs: number;
  /** Index into CAUSES if the robot halted or refused at this tick, which makes its second bad; else −1. */
  halt: number;
}

/** Counts windows against one target, on the tick grid of a session. */
export class Judge {
  /** Seconds with someone driving or a halt, and the bad ones, in the worst of ten phases. */
  windows = 0;
  badWindows = 0;
  strictWindows = 0;
  longestLateRun = 0;
  seconds: WindowVerdict[] = [];
  spells: BadSpell[] = [];
  /** Spells beyond the limit, only counted. */
  spellsLeftOut = 0;
  readonly #keep: number;
  readonly #byPhase = Array.from({ length: PHASES }, () => ({ windows: 0, bad: 0, flags: [] as number[] }));
  #ticks = 0;
  #lateRun = 0;
  #size = 0;
  #session = 0;
  #at: Float64Array = new Float64Array(0);
  #latency: Float64Array = new Float64Array(0);
  #kinds: Uint8Array = new Uint8Array(0);
  #deviates: Uint8Array = new Uint8Array(0);
  #causes: Int8Array = new Int8Array(0);
  #halts: Int8Array = new Int8Array(0);
  // Sums over the last second.
  #deviating = 0;
  #haltTicks = 0;
  readonly #ofKind = new Int32Array(4);
  #spell: Spell | null = null;

  constructor(keepWindows: number) {
    this.#keep = keepWindows;
  }

  /** Starts a session: windows do not span sessions. `windowTicks`: ticks of a second. */
  begin(windowTicks: number, session: number): void {
    this.end();
    this.#session = session;
    this.#ticks = this.#lateRun = this.#deviating = this.#haltTicks = 0;
    this.#ofKind.fill(0);
    this.#size = windowTicks;
    this.#at = new Float64Array(windowTicks);
    this.#latency = new Float64Array(windowTicks);
    this.#kinds = new Uint8Array(windowTicks);
    this.#deviates = new Uint8Array(windowTicks);
    this.#causes = new Int8Array(windowTicks);
    this.#halts = new Int8Array(windowTicks);
  }

  /** Someone was driving. While `isExcused` only a halt counts. `causeOf` is called for deviating ticks. */
  add(tick: Tick, targetNs: number, isExcused: boolean, causeOf: (isLate: boolean) => number): void {
    const errorNs = tick.latencyNs - targetNs;
    const deviates = tick.halt >= 0 || (!isExcused && Math.abs(errorNs) > THRESHOLD_NS);
    const cause = !deviates ? -1 : tick.halt >= 0 ? tick.halt : causeOf(errorNs > 0);
    this.#lateRun = !isExcused && errorNs > THRESHOLD_NS ? this.#lateRun + 1 : 0;
    if (this.#lateRun > this.longestLateRun) this.longestLateRun = this.#lateRun;
    this.#put(tick, deviates, cause, isExcused ? EXCUSED : DRIVING);
  }

  /** Nobody was driving; if `cause` is not −1, because the robot had halted. */
  away(tick: Tick, isExcused: boolean, cause: number): void {
    this.#lateRun = 0;
    this.#put(tick, cause >= 0, cause, cause >= 0 ? HALTED : isExcused ? EXCUSED : AWAY);
  }

  end(): void {
    // A halt in the last second is part of no complete window yet.
    if (this.#haltTicks > 0) {
      const last = { atNs: this.#at[(this.#ticks - 1) % this.#size]!, latencyNs: Number.NaN, halt: -1 };
      for (let i = 0; i < this.#size; i++) this.away(last, false, -1);
    }
    if (this.#spell !== null) this.#closeSpell();
  }

  /** For each window of the phase that counts, 1 if it was bad. The newest ones, if there were too many. */
  flags(): number[] {
    const worst = this.#byPhase.reduce((a, b) => (b.bad > a.bad ? b : a));
    return worst.flags;
  }

  #put({ atNs, latencyNs, halt }: Tick, deviates: boolean, cause: number, kind: number): void {
    const at = this.#ticks++ % this.#size;
    if (this.#ticks > this.#size) {
      this.#deviating -= this.#deviates[at]!;
      this.#ofKind[this.#kinds[at]!]!--;
      if (this.#halts[at]! >= 0) this.#haltTicks--;
    }
    this.#at[at] = atNs;
    this.#latency[at] = latencyNs;
    this.#deviates[at] = deviates ? 1 : 0;
    this.#kinds[at] = kind;
    this.#causes[at] = cause;
    this.#halts[at] = halt;
    if (deviates) this.#deviating++;
    this.#ofKind[kind]!++;
    if (halt >= 0) this.#haltTicks++;
    if (this.#ticks >= this.#size) this.#atPhase();
  }

  #atPhase(): void {
    const stride = Math.max(1, Math.floor(this.#size / PHASES));
    const past = this.#ticks - this.#size;
    if (past % stride !== 0) return;
    const phase = this.#byPhase[(past / stride) % PHASES]!;
    // A second that is partly warm-up is bad only because of a halt.
    const isWarmUp = this.#ofKind[EXCUSED]! > 0;
    const deviating = isWarmUp ? this.#ofKind[HALTED]! : this.#deviating;
    const isBad = this.#haltTicks > 0 || deviating >= Math.max(2, Math.ceil(BAD_SHARE * this.#size));
    const isJudged = isBad || (!isWarmUp && this.#ofKind[DRIVING]! > 0);
    if (isJudged) {
      phase.flags.push(isBad ? 1 : 0);
      if (phase.flags.length > 2 * this.#keep) phase.flags = phase.flags.slice(-this.#keep);
      this.windows = Math.max(this.windows, ++phase.windows);
    }
    if (isBad) {
      this.badWindows = Math.max(this.badWindows, ++phase.bad);
      this.#extendSpell();
    } else if (this.#spell !== null && this.#oldestNs() > this.#spell.endNs) this.#closeSpell();
    if (past % this.#size === 0 && isJudged) this.#closeWindow(isBad);
  }

  #oldestNs(): number {
    return this.#at[this.#ticks % this.#size]!;
  }

  #closeWindow(isBad: boolean): void {
    const first = this.#ticks % this.#size;
    const sorted = this.#latency.filter((ns) => !Number.isNaN(ns)).sort();
    const rank = (q: number) => sorted[Math.ceil(q * sorted.length) - 1] ?? Number.NaN;
    const counts = new Int32Array(CAUSES.length);
    let isStrict = false;
    let halt = -1;
    for (let i = 0; i < this.#size; i++) {
      const at = (first + i) % this.#size;
      if (this.#deviates[at] === 0) continue;
      if (this.#causes[at]! >= 0) counts[this.#causes[at]!]!++;
      if (halt < 0) halt = this.#halts[at]!;
      if (i > 0 && this.#deviates[(at + this.#size - 1) % this.#size] === 1) isStrict = true;
    }
    if (isStrict) this.strictWindows++;
    this.seconds.push({
      session: this.#session,
      startNs: this.#at[first]!,
      endNs: this.#at[(first + this.#size - 1) % this.#size]!,
      p50Ns: rank(0.5),
      p95Ns: rank(0.95),
      maxNs: rank(1),
      deviating: this.#deviating,
      ticks: this.#size,
      isBad,
      isStrict,
      cause: this.#deviating === 0 ? null : (CAUSES[halt] ?? mostOf(counts)),
    });
    if (this.seconds.length > 2 * this.#keep) this.seconds = this.seconds.slice(-this.#keep);
  }

  /** Adds the deviating ticks of the current window that the spell does not include yet. */
  #extendSpell(): void {
    this.#spell ??= {
      startNs: Number.NaN,
      endNs: 0,
      counted: this.#ticks - this.#size,
      worstNs: 0,
      halt: -1,
      causes: new Int32Array(CAUSES.length + 1),
    };
    const spell = this.#spell;
    for (let n = Math.max(spell.counted, this.#ticks - this.#size); n < this.#ticks; n++) {
      const at = n % this.#size;
      if (this.#deviates[at] === 0) continue;
      if (Number.isNaN(spell.startNs)) spell.startNs = this.#at[at]!;
      spell.endNs = this.#at[at]!;
      if (this.#latency[at]! > spell.worstNs) spell.worstNs = this.#latency[at]!;
      if (spell.halt < 0) spell.halt = this.#halts[at]!;
      spell.causes[this.#causes[at]! < 0 ? CAUSES.length : this.#causes[at]!]!++;
    }
    spell.counted = this.#ticks;
  }

  #closeSpell(): void {
    const { startNs, endNs, worstNs, causes, halt } = this.#spell!;
    this.#spell = null;
    const deviating = causes.reduce((sum, n) => sum + n, 0);
    const cause = CAUSES[halt] ?? mostOf(causes.subarray(0, CAUSES.length)) ?? 'playout';
    const share = causes[CAUSES.indexOf(cause)]! / deviating;
    if (this.spells.length >= MAX_SPELLS) this.spellsLeftOut++;
    else this.spells.push({ session: this.#session, startNs, endNs, deviating, worstNs, cause, share });
  }
}

interface Spell {
  startNs: number;
  endNs: number;
  counted: number;
  worstNs: number;
  halt: number;
  causes: Int32Array;
}

function mostOf(counts: Int32Array): Cause | null {
  let most = -1;
  for (let i = 0; i < counts.length; i++) if (counts[i]! > (counts[most] ?? 0)) most = i;
  return CAUSES[most] ?? null;
}
