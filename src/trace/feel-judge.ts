import { NS_PER_MS } from '../core/time/clock.ts';
import { CAUSES, type Cause } from './feel-cause.ts';

const THRESHOLD_NS = 10.5 * NS_PER_MS;
/** Share of a second's ticks: 6 of 100. */
const BAD_SHARE = 0.06;
const PHASES = 10;
const MAX_SPELLS = 2000;

/** The verdict on one second. */
export interface WindowVerdict {
  /** Number of the session, in order of appearance. */
  session: number;
  /** Its first tick, operator clock. */
  startNs: number;
  endNs: number;
  p50Ns: number;
  p95Ns: number;
  maxNs: number;
  /** Number of ticks, out of `ticks`, that are more than 10.5 ms from the running target. */
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
  /** The cause of most of its deviating ticks, and their share. */
  cause: Cause;
  share: number;
}

export interface Tick {
  atNs: number;
  latencyNs: number;
  /** Index into CAUSES of the cause if it deviates; −1 if none was found. */
  cause: number;
}

/** Counts windows against one target. `windowTicks`: ticks of a second. */
export class Judge {
  badWindows = 0;
  strictWindows = 0;
  longestLateRun = 0;
  windows: WindowVerdict[] = [];
  spells: BadSpell[] = [];
  /** Spells beyond the limit, only counted. */
  spellsLeftOut = 0;
  readonly #keep: number;
  readonly #byPhase = new Int32Array(PHASES);
  #ticks = 0;
  #lateRun = 0;
  #size = 0;
  #session = 0;
  #at: Float64Array = new Float64Array(0);
  #latency: Float64Array = new Float64Array(0);
  #deviates: Uint8Array = new Uint8Array(0);
  #causes: Int8Array = new Int8Array(0);
  #inWindow = 0;
  #spell: { startNs: number; endNs: number; counted: number; worstNs: number; causes: Int32Array } | null =
    null;

  constructor(keepWindows: number) {
    this.#keep = keepWindows;
  }

  /** Starts a new stretch: windows do not span stretches. */
  begin(windowTicks: number, session: number): void {
    this.end();
    this.#session = session;
    this.#ticks = this.#inWindow = this.#lateRun = 0;
    if (windowTicks === this.#size) return;
    this.#size = windowTicks;
    this.#at = new Float64Array(windowTicks);
    this.#latency = new Float64Array(windowTicks);
    this.#deviates = new Uint8Array(windowTicks);
    this.#causes = new Int8Array(windowTicks);
  }

  /** `causeOf` is called for deviating ticks only. */
  add(tick: Tick, targetNs: number, causeOf: (isLate: boolean) => number): void {
    const errorNs = tick.latencyNs - targetNs;
    const deviates = Math.abs(errorNs) > THRESHOLD_NS;
    const at = this.#ticks++ % this.#size;
    if (this.#ticks > this.#size) this.#inWindow -= this.#deviates[at]!;
    this.#at[at] = tick.atNs;
    this.#latency[at] = tick.latencyNs;
    this.#deviates[at] = deviates ? 1 : 0;
    this.#causes[at] = deviates ? causeOf(errorNs > 0) : -1;
    if (deviates) this.#inWindow++;
    this.#lateRun = errorNs > THRESHOLD_NS ? this.#lateRun + 1 : 0;
    if (this.#lateRun > this.longestLateRun) this.longestLateRun = this.#lateRun;
    if (this.#ticks >= this.#size) this.#atPhase();
  }

  end(): void {
    if (this.#spell !== null) this.#closeSpell();
  }

  #atPhase(): void {
    const stride = Math.max(1, Math.floor(this.#size / PHASES));
    const past = this.#ticks - this.#size;
    if (past % stride !== 0) return;
    const phase = (past / stride) % PHASES;
    const isBad = this.#inWindow >= Math.max(2, Math.ceil(BAD_SHARE * this.#size));
    if (isBad) {
      this.#byPhase[phase]!++;
      if (this.#byPhase[phase]! > this.badWindows) this.badWindows = this.#byPhase[phase]!;
      this.#extendSpell();
    } else if (this.#spell !== null && this.#oldestNs() > this.#spell.endNs) this.#closeSpell();
    if (past % this.#size === 0) this.#closeWindow(isBad);
  }

  #oldestNs(): number {
    return this.#at[this.#ticks % this.#size]!;
  }

  #closeWindow(isBad: boolean): void {
    const first = this.#ticks % this.#size;
    const sorted = this.#latency.slice().sort();
    const rank = (q: number) => sorted[Math.ceil(q * this.#size) - 1]!;
    const counts = new Int32Array(CAUSES.length);
    let isStrict = false;
    for (let i = 0; i < this.#size; i++) {
      const at = (first + i) % this.#size;
      if (this.#deviates[at] === 0) continue;
      if (this.#causes[at]! >= 0) counts[this.#causes[at]!]!++;
      if (i > 0 && this.#deviates[(at + this.#size - 1) % this.#size] === 1) isStrict = true;
    }
    if (isStrict) this.strictWindows++;
    this.windows.push({
      session: this.#session,
      startNs: this.#at[first]!,
      endNs: this.#at[(first + this.#size - 1) % this.#size]!,
      p50Ns: rank(0.5),
      p95Ns: rank(0.95),
      maxNs: rank(1),
      deviating: this.#inWindow,
      ticks: this.#size,
      isBad,
      isStrict,
      cause: this.#inWindow === 0 ? null : mostOf(counts),
    });
    if (this.windows.length > 2 * this.#keep) this.windows = this.windows.slice(-this.#keep);
  }

  /** Adds the deviating ticks of the current window that the spell does not include yet. */
  #extendSpell(): void {
    this.#spell ??= {
      startNs: Number.NaN,
      endNs: 0,
      counted: this.#ticks - this.#size,
      worstNs: 0,
      causes: new Int32Array(CAUSES.length + 1),
    };
    const spell = this.#spell;
    for (let n = Math.max(spell.counted, this.#ticks - this.#size); n < this.#ticks; n++) {
      const at = n % this.#size;
      if (this.#deviates[at] === 0) continue;
      if (Number.isNaN(spell.startNs)) spell.startNs = this.#at[at]!;
      spell.endNs = this.#at[at]!;
      spell.worstNs = Math.max(spell.worstNs, this.#latency[at]!);
      spell.causes[this.#causes[at]! < 0 ? CAUSES.length : this.#causes[at]!]!++;
    }
    spell.counted = this.#ticks;
  }

  #closeSpell(): void {
    const { startNs, endNs, worstNs, causes } = this.#spell!;
    this.#spell = null;
    const deviating = causes.reduce((sum, n) => sum + n, 0);
    const cause = mostOf(causes.subarray(0, CAUSES.length)) ?? 'playout';
    const share = causes[CAUSES.indexOf(cause)]! / deviating;
    if (this.spells.length >= MAX_SPELLS) this.spellsLeftOut++;
    else this.spells.push({ session: this.#session, startNs, endNs, deviating, worstNs, cause, share });
  }
}

function mostOf(counts: Int32Array): Cause | null {
  let most = -1;
  for (let i = 0; i < counts.length; i++) if (counts[i]! > (counts[most] ?? 0)) most = i;
  return CAUSES[most] ?? null;
}
