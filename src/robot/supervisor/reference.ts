import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import type { JointLimits } from './limits.ts';

/** Commands less than MIN or more than MAX apart give no velocity. */
const MIN_SPACING_NS = NS_PER_MS;
const MAX_SPACING_NS = 100 * NS_PER_MS;
/** A command is overdue this many spacings of the stream after the previous one. */
const OVERDUE_SPACINGS = 1.5;
const MAX_OVERDUE_NS = 30 * NS_PER_MS;
/** A missing stream is extrapolated at full velocity for this long … */
const HOLD_NS = 40 * NS_PER_MS;
/** … and has faded to a stop after this long. */
const END_NS = 80 * NS_PER_MS;
/** A stream with fewer commands than this is not extrapolated. */
const MIN_COMMANDS = 4;
/** The extrapolation error is blended out over this time. */
const BLEND_NS = 25 * NS_PER_MS;
/** Share of the newest velocity in the estimate. */
const NEWEST_SHARE = 0.5;
/** A reference slower than this is at rest. */
const STILL_RAD_S = 1e-6;

/**
 * The goal as a motion: between two commands it continues at the stream's velocity, so that following it adds
 * no lag. With `carriesOn` it also bridges missing commands and returns without a jump to those that follow;
 * without it, the last command of a paused stream is the goal, at rest. Plain state on the caller's clock;
 * nothing is allocated after construction. Hot path.
 */
export class StreamReference {
  /** The newest command, inside the range. */
  readonly goalRad: Float64Array;
  readonly #limits: JointLimits;
  readonly #carriesOn: boolean;
  readonly #velocities: Float64Array;
  /** Reference minus newest command, when that command arrived. */
  readonly #errorRad: Float64Array;
  readonly #heldRad: Float64Array;
  readonly #heldRadS: Float64Array;
  #blendFromNs = 0;
  #blendEndNs = Number.NEGATIVE_INFINITY;
  #sampledOperatorNs = Number.NaN;
  #aimedNs = 0;
  #overdueNs = 0;
  #commands = 0;

  constructor(limits: JointLimits, carriesOn: boolean) {
    const joints = limits.minRad.length;
    this.#limits = limits;
    this.#carriesOn = carriesOn;
    this.goalRad = new Float64Array(joints);
    this.#velocities = new Float64Array(joints);
    this.#errorRad = new Float64Array(joints);
    this.#heldRad = new Float64Array(joints);
    this.#heldRadS = new Float64Array(joints);
  }

  restart(goalRad: Float64Array, nowNs: number): void {
    this.goalRad.set(goalRad);
    this.#sampledOperatorNs = Number.NaN;
    this.#aimedNs = nowNs;
    this.pause();
  }

  /** Makes the last command the goal, at rest, and extrapolates nothing until a new stream has built up. */
  pause(): void {
    this.#velocities.fill(0);
    this.#blendEndNs = Number.NEGATIVE_INFINITY;
    this.#overdueNs = 0;
    this.#commands = 0;
  }

  /**
   * Takes a command; true if a joint had to be clamped into its range. `sampledOperatorNs` may be on any
   * clock: only differences count. `dueNs` is when the command should have arrived, not after `nowNs`: a late
   * command is extrapolated from there.
   */
  aim(goalRad: Float64Array, sampledOperatorNs: number, nowNs: number, dueNs = nowNs): boolean {
    const spacingNs = sampledOperatorNs - this.#sampledOperatorNs;
    const isStream = spacingNs >= MIN_SPACING_NS && spacingNs <= MAX_SPACING_NS;
    const isBridged = this.#isBridging(nowNs);
    // A burst after a gap must not make it jump either.
    const isBlended = isBridged || nowNs < this.#blendEndNs;
    if (isBlended) this.at(nowNs, this.#heldRad, this.#heldRadS);
    const commands = isStream ? this.#commands + 1 : 1;
    const isLate = this.#carriesOn && commands >= MIN_COMMANDS && dueNs < nowNs;
    const lateNs = isLate ? Math.min(END_NS, nowNs - dueNs) : 0;
    const lateS = aheadNs(lateNs) / NS_PER_S;
    let clamped = false;
    for (let i = 0; i < goalRad.length; i++) {
      const wanted = goalRad[i]!;
      const allowed = this.#inRange(i, wanted);
      const newest = ((allowed - this.goalRad[i]!) / spacingNs) * NS_PER_S;
      this.#velocities[i] = isStream ? this.#estimate(i, newest) : 0;
      this.goalRad[i] = allowed;
      if (isBlended) this.#errorRad[i] = this.#heldRad[i]! - allowed - this.#velocities[i]! * lateS;
      clamped ||= allowed !== wanted;
    }
    if (isBlended) this.#blendFromNs = nowNs;
    if (isBridged) this.#blendEndNs = nowNs + BLEND_NS;
    this.#sampledOperatorNs = sampledOperatorNs;
    this.#commands = commands;
    this.#overdueNs = isStream ? Math.min(MAX_OVERDUE_NS, OVERDUE_SPACINGS * spacingNs) : 0;
    this.#aimedNs = nowNs - lateNs;
    return clamped;
  }

  #isBridging(nowNs: number): boolean {
    return this.#mayCarryOn() && nowNs - this.#aimedNs > this.#overdueNs;
  }

  #mayCarryOn(): boolean {
    return this.#carriesOn && this.#commands >= MIN_COMMANDS;
  }

  /** A velocity above the joint's limit is a jump, not a stream. */
  #estimate(i: number, newestRadS: number): number {
    if (Math.abs(newestRadS) > this.#limits.velocityRadS[i]!) return 0;
    const old = this.#velocities[i]!;
    const estimate = old + NEWEST_SHARE * (newestRadS - old);
    return Math.abs(estimate) < STILL_RAD_S ? 0 : estimate;
  }

  /** Positions and velocities of all joints at an instant. */
  at(atNs: number, outRad: Float64Array, outRadS: Float64Array): void {
    const sinceNs = Math.max(0, atNs - this.#aimedNs);
    const carries = this.#mayCarryOn();
    const isRunning = carries ? sinceNs < END_NS : sinceNs < this.#overdueNs;
    const aheadS = carries || isRunning ? aheadNs(sinceNs) / NS_PER_S : 0;
    const share = isRunning ? Math.min(1, (END_NS - sinceNs) / (END_NS - HOLD_NS)) : 0;
    const blendNs = this.#blendEndNs - this.#blendFromNs;
    const left = Math.min(1, (this.#blendEndNs - atNs) / blendNs);
    const blends = atNs < this.#blendEndNs;
    for (let i = 0; i < this.goalRad.length; i++) {
      const velocity = this.#velocities[i]!;
      const error = blends ? this.#errorRad[i]! : 0;
      outRad[i] = this.#inRange(i, this.goalRad[i]! + velocity * aheadS + (blends ? left * error : 0));
      outRadS[i] = velocity * share - (blends ? (error / blendNs) * NS_PER_S : 0);
    }
  }

  #inRange(i: number, rad: number): number {
    return Math.max(this.#limits.minRad[i]!, Math.min(this.#limits.maxRad[i]!, rad));
  }
}

/** Integral over the age of the share of the velocity that is left. */
function aheadNs(ageNs: number): number {
  if (ageNs <= HOLD_NS) return ageNs;
  const fadingNs = Math.min(ageNs, END_NS) - HOLD_NS;
  return HOLD_NS + fadingNs - (fadingNs * fadingNs) / (2 * (END_NS - HOLD_NS));
}
