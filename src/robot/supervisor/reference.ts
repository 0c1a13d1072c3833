import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import type { JointLimits } from './limits.ts';

/** Commands closer than this, or farther apart than the next, say nothing about a velocity. */
const MIN_SPACING_NS = NS_PER_MS;
const MAX_SPACING_NS = 100 * NS_PER_MS;
/** A command that is this many spacings of the stream away from the one before is overdue. */
const OVERDUE_SPACINGS = 1.5;
const MAX_OVERDUE_NS = 30 * NS_PER_MS;
/** A stream that fails to come runs on for so long … */
const HOLD_NS = 40 * NS_PER_MS;
/** … and has faded to nothing after so long: past it a stop is right, not a guess. */
const END_NS = 80 * NS_PER_MS;
/** Fewer commands than this are no stream to be carried on. */
const MIN_COMMANDS = 4;
/** What was guessed too much or too little goes away over this time. */
const BLEND_NS = 25 * NS_PER_MS;
/** Share of the newest velocity in the estimate. */
const NEWEST_SHARE = 0.5;
/** A reference slower than this stands. */
const STILL_RAD_S = 1e-6;

/**
 * The goal as a motion: between two commands of a stream it runs on at the velocity of the stream, so that following it
 * costs no lag. With `carriesOn` it also bridges commands that are missing, and leads back to those that come again
 * without a jump; else a stream that pauses leaves the last command as the goal, at rest. Plain state on the caller's
 * clock; nothing is allocated after construction. Hot path.
 */
export class StreamReference {
  /** The newest command, inside the range. */
  readonly goalRad: Float64Array;
  readonly #limits: JointLimits;
  readonly #carriesOn: boolean;
  readonly #velocities: Float64Array;
  /** Where it was − the newest command, at the moment that came. */
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

  /** There is doubt about the stream: the last command is the goal, at rest, and nothing is made up before others came. */
  pause(): void {
    this.#velocities.fill(0);
    this.#blendEndNs = Number.NEGATIVE_INFINITY;
    this.#overdueNs = 0;
    this.#commands = 0;
  }

  /**
   * A command of the stream; true when a joint had to be clamped into its range. `sampledOperatorNs` is when the operator meant
   * it, on any one clock: only differences count. `dueNs` is when it should have come, not after `nowNs`: one that is late
   * is carried on from there.
   */
  aim(goalRad: Float64Array, sampledOperatorNs: number, nowNs: number, dueNs = nowNs): boolean {
    const spacingNs = sampledOperatorNs - this.#sampledOperatorNs;
    const isStream = spacingNs >= MIN_SPACING_NS && spacingNs <= MAX_SPACING_NS;
    const isBridged = this.#isBridging(nowNs);
    // Those that come in a bunch after a gap do not move it by jumps either.
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

  /** Faster than the joint can go is a jump, and no stream. */
  #estimate(i: number, newestRadS: number): number {
    if (Math.abs(newestRadS) > this.#limits.velocityRadS[i]!) return 0;
    const old = this.#velocities[i]!;
    const estimate = old + NEWEST_SHARE * (newestRadS - old);
    return Math.abs(estimate) < STILL_RAD_S ? 0 : estimate;
  }

  /** Where it is and how fast at an instant, all joints. */
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

/** Integral of the share of the velocity still held, over the age. */
function aheadNs(ageNs: number): number {
  if (ageNs <= HOLD_NS) return ageNs;
  const fadingNs = Math.min(ageNs, END_NS) - HOLD_NS;
  return HOLD_NS + fadingNs - (fadingNs * fadingNs) / (2 * (END_NS - HOLD_NS));
}
