import type { JointLimits } from './limits.ts';

/** Commands closer than this, or farther apart than the next, say nothing about a velocity. */
const MIN_SPACING_NS = 1e6;
const MAX_SPACING_NS = 100e6;
/** A reference runs on for this many spacings of the stream, at most this long. */
const HORIZON_SPACINGS = 1.5;
const MAX_HORIZON_NS = 30e6;
/** Share of the newest velocity in the estimate. */
const NEWEST_SHARE = 0.5;
/** A reference slower than this stands. */
const STILL_RAD_S = 1e-6;

/**
 * The goal as a motion: between two commands of a stream it runs on at the velocity of the stream, so that following it
 * costs no lag. A stream that pauses leaves the last command as the goal, at rest.
 */
export class StreamReference {
  readonly goalRad: Float64Array;
  readonly #limits: JointLimits;
  readonly #streamRad: Float64Array;
  readonly #velocities: Float64Array;
  #stampNs = Number.NaN;
  #aimedNs = 0;
  #horizonNs = 0;

  constructor(limits: JointLimits) {
    const joints = limits.minRad.length;
    this.#limits = limits;
    this.goalRad = new Float64Array(joints);
    this.#streamRad = new Float64Array(joints);
    this.#velocities = new Float64Array(joints);
  }

  restart(goalRad: Float64Array, nowNs: number): void {
    this.goalRad.set(goalRad);
    this.#velocities.fill(0);
    this.#stampNs = Number.NaN;
    this.#aimedNs = nowNs;
    this.#horizonNs = 0;
  }

  /**
   * A command of the stream; true when a joint had to be clamped into its range. `stampNs` is when the operator meant
   * it, on any one clock: only differences count.
   */
  aim(goalRad: Float64Array, stampNs: number, nowNs: number): boolean {
    const clamped = this.#set(goalRad, this.#streamRad, stampNs - this.#stampNs, nowNs);
    this.#streamRad.set(this.goalRad);
    this.#stampNs = stampNs;
    return clamped;
  }

  /** A goal made up between commands. The next command is compared with the last one, not with this. */
  bridge(goalRad: Float64Array, nowNs: number): void {
    this.#set(goalRad, this.goalRad, nowNs - this.#aimedNs, nowNs);
  }

  #set(goalRad: Float64Array, beforeRad: Float64Array, spacingNs: number, nowNs: number): boolean {
    const isStream = spacingNs >= MIN_SPACING_NS && spacingNs <= MAX_SPACING_NS;
    let clamped = false;
    for (let i = 0; i < goalRad.length; i++) {
      const wanted = goalRad[i]!;
      const allowed = this.#inRange(i, wanted);
      const newest = ((allowed - beforeRad[i]!) / spacingNs) * 1e9;
      this.#velocities[i] = isStream ? this.#estimate(i, newest) : 0;
      this.goalRad[i] = allowed;
      clamped ||= allowed !== wanted;
    }
    this.#horizonNs = isStream ? Math.min(MAX_HORIZON_NS, HORIZON_SPACINGS * spacingNs) : 0;
    this.#aimedNs = nowNs;
    return clamped;
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
    const sinceNs = atNs - this.#aimedNs;
    const isRunning = sinceNs < this.#horizonNs;
    const aheadS = sinceNs > 0 && isRunning ? sinceNs / 1e9 : 0;
    for (let i = 0; i < this.goalRad.length; i++) {
      const velocity = this.#velocities[i]!;
      outRad[i] = aheadS === 0 ? this.goalRad[i]! : this.#inRange(i, this.goalRad[i]! + velocity * aheadS);
      outRadS[i] = isRunning ? velocity : 0;
    }
  }

  #inRange(i: number, rad: number): number {
    return Math.max(this.#limits.minRad[i]!, Math.min(this.#limits.maxRad[i]!, rad));
  }
}
