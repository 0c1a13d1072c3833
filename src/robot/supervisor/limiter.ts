import type { LimitedBy } from '../../messages/robot-state.ts';
import { brake, motionOf } from './brake.ts';
import type { MotionGuard } from './guard.ts';
import type { JointLimits } from './limits.ts';
import { PathRunner, STEP_S, within } from './path-runner.ts';
import { Smoother } from './smoother.ts';

/**
 * A step later than this brakes for the whole gap: of all motions inside the limits since the last target,
 * that one is the shortest.
 */
const MAX_STEP_S = 0.05;
const STEP_NS = STEP_S * 1e9;
/** A slowdown to more than this share of the requested speed is not reported. */
const NOTICED_SHARE = 0.98;
/** How far ahead to look whether the arm moves into a singularity. */
const LOOK_AHEAD_S = 0.01;

export interface FollowSettings {
  singularityMargin: number;
  /** Share of the speed allowed in a singularity. */
  singularityShare: number;
  /** Whether the path is predicted beyond its newest node. */
  extrapolate: boolean;
  /** Beyond this lag the arm leaves the path and takes the shortest one. */
  maxLagS: number;
}

/**
 * Moves the driver's target along the path that the commands draw, within range, velocity, acceleration and jerk limits,
 * clear of what the guard watches, and brings it to rest within them. The target is a smooth function of time: whenever
 * it is asked for, the limits hold since the last time. Plain state, no clock.
 */
export class TargetLimiter {
  readonly targetRad: Float64Array;
  /** The target's velocities. */
  readonly velocitiesRadS: Float64Array;
  readonly accelerationsRadS2: Float64Array;
  /** The newest command, inside the range. */
  readonly goalRad: Float64Array;
  /** The limit that held the target back in the last step. */
  limitedBy: LimitedBy = '';
  /** Share of the velocity limits that may be used; below 1 while catching up after engaging. */
  speedShare = 1;
  readonly guard: MotionGuard;
  readonly #limits: JointLimits;
  readonly #settings: FollowSettings;
  readonly #manipulability: (qRad: ArrayLike<number>) => number;
  readonly #runner: PathRunner;
  readonly #smoother: Smoother;
  readonly #motion: Float64Array;
  readonly #aheadRad: Float64Array;
  readonly #joints: number;
  /** Every joint brakes on its own, whatever the path. */
  #stopping = false;
  #atNs = 0;
  /** The last whole step, which the smoother has taken. */
  #gridNs = 0;

  constructor(
    limits: JointLimits,
    guard: MotionGuard,
    manipulability: (qRad: ArrayLike<number>) => number,
    settings: FollowSettings,
  ) {
    const joints = limits.minRad.length;
    this.guard = guard;
    this.#limits = limits;
    this.#settings = settings;
    this.#manipulability = manipulability;
    this.#joints = joints;
    this.#runner = new PathRunner(
      limits,
      (fromRad, toRad) => guard.isLineClear(fromRad, toRad),
      settings.extrapolate,
      settings.maxLagS,
    );
    this.#smoother = new Smoother(limits);
    this.#motion = motionOf(joints);
    this.#aheadRad = new Float64Array(joints);
    this.goalRad = new Float64Array(joints);
    this.targetRad = this.#motion.subarray(0, joints);
    this.velocitiesRadS = this.#motion.subarray(joints, 2 * joints);
    this.accelerationsRadS2 = this.#motion.subarray(2 * joints);
  }

  /** Time by which the target is behind the path. */
  get lagS(): number {
    return this.#runner.lagS;
  }

  /**
   * Sets target and goal to the measured pose, at rest. Only before the driver's first target since power-on.
   */
  restart(measuredRad: Float64Array, nowNs: number): void {
    this.#motion.fill(0);
    this.targetRad.set(measuredRad);
    this.goalRad.set(measuredRad);
    this.guard.measure(this.targetRad);
    this.limitedBy = '';
    this.#atNs = nowNs;
    this.#rest(nowNs);
  }

  /** A new path from the target, which is at rest. */
  #rest(nowNs: number): void {
    this.#runner.restart(this.targetRad, nowNs);
    this.#smoother.restart(this.targetRad);
    this.#gridNs = nowNs;
    this.#stopping = false;
  }

  /** Starts another path. The target keeps its position and velocity. */
  resume(nowNs: number): void {
    this.#runner.resume(nowNs);
    this.limitedBy = '';
  }

  /** Adds a command to the path; true if a joint had to be clamped into its range. */
  aim(goalRad: Float64Array, atNs: number): boolean {
    const { minRad, maxRad } = this.#limits;
    let clamped = false;
    for (let i = 0; i < this.#joints; i++) {
      const allowed = Math.max(minRad[i]!, Math.min(maxRad[i]!, goalRad[i]!));
      clamped ||= allowed !== goalRad[i];
      this.goalRad[i] = allowed;
    }
    this.#runner.add(this.goalRad, atNs);
    return clamped;
  }

  /** Until the next command, the path is not predicted. */
  doubt(): void {
    this.#runner.doubt();
  }

  /** Moves the target along the path; false if it was at rest and still is. */
  follow(nowNs: number): boolean {
    this.limitedBy = '';
    return this.#move(nowNs, true);
  }

  /** Brakes the target; true while it still moves. */
  settle(nowNs: number): boolean {
    this.limitedBy = '';
    return this.#move(nowNs, false);
  }

  #move(atNs: number, follows: boolean): boolean {
    const dtS = this.#elapsedS(atNs);
    if (dtS > MAX_STEP_S) this.#stopping = true;
    if (this.#stopping) return this.#stop(dtS, this.#atNs);
    if (follows) this.#surveil();
    this.#advance(follows);
    const wasAtRest = isAtRest(this.#motion, this.#joints);
    this.#smooth();
    return !wasAtRest || !isAtRest(this.#motion, this.#joints) || !this.#runner.isAtRest;
  }

  /** Takes the whole steps up to now. */
  #advance(follows: boolean): void {
    const runner = this.#runner;
    const leadNs = this.#smoother.delayS * 1e9;
    while (this.#gridNs + STEP_NS <= this.#atNs) {
      this.#gridNs += STEP_NS;
      runner.atNs = this.#gridNs + leadNs;
      if (follows) runner.step();
      else runner.brake();
      if (follows && this.limitedBy === '') this.limitedBy = runner.limitedBy;
      if (!this.guard.admits(runner.rawRad, runner.velocitiesRadS)) {
        if (follows) this.limitedBy = this.guard.reason;
        runner.slowInstead();
        if (!this.guard.admits(runner.rawRad, runner.velocitiesRadS)) runner.stopInstead();
        runner.noteBlocked();
      }
      this.#smoother.push(runner.rawRad);
    }
  }

  #smooth(): void {
    const { minRad, maxRad } = this.#limits;
    const before = this.#aheadRad;
    before.set(this.targetRad);
    this.#smoother.share = (this.#atNs - this.#gridNs) / STEP_NS;
    this.#smoother.look(this.#motion);
    // Removes rounding errors that leave the range.
    for (let i = 0; i < this.#joints; i++)
      this.#motion[i] = within(before[i]!, this.#motion[i]!, minRad[i]!, maxRad[i]!);
  }

  /** Brakes every joint on its own; from rest, a new path begins. */
  #stop(dtS: number, nowNs: number): boolean {
    const { accelerationRadS2, jerkRadS3, minRad, maxRad } = this.#limits;
    const wasAtRest = isAtRest(this.#motion, this.#joints);
    for (let i = 0; i < this.#joints; i++) {
      const from = this.#motion[i]!;
      brake(this.#motion, i, accelerationRadS2[i]!, jerkRadS3[i]!, dtS);
      this.#motion[i] = within(from, this.#motion[i]!, minRad[i]!, maxRad[i]!);
    }
    this.guard.measure(this.targetRad);
    const rests = isAtRest(this.#motion, this.#joints);
    if (rests) this.#rest(nowNs);
    return !wasAtRest || !rests;
  }

  /** Sets how fast the path may be run through near surroundings and singularities. */
  #surveil(): void {
    const runner = this.#runner;
    const clear = this.guard.speedShare(runner.rawRad, runner.velocitiesRadS);
    runner.mostRate = clear < 1 ? clear * runner.rate : Number.POSITIVE_INFINITY;
    runner.mostRateBy = this.guard.reason;
    const free = this.#singularityShare();
    runner.slowedBy = free < this.speedShare ? 'singularity' : 'engage-ramp';
    runner.speedShare = Math.min(this.speedShare, free);
    if (clear < NOTICED_SHARE) this.limitedBy = runner.mostRateBy;
  }

  #singularityShare(): number {
    const { singularityMargin, singularityShare } = this.#settings;
    if (singularityMargin === 0) return 1;
    const now = this.#manipulability(this.targetRad);
    if (now >= singularityMargin) return 1;
    const { velocitiesRadS } = this.#runner;
    for (let i = 0; i < this.#joints; i++)
      this.#aheadRad[i] = this.targetRad[i]! + velocitiesRadS[i]! * LOOK_AHEAD_S;
    if (this.#manipulability(this.#aheadRad) >= now) return 1;
    return singularityShare + (1 - singularityShare) * (now / singularityMargin);
  }

  #elapsedS(nowNs: number): number {
    const dtS = Math.max(0, (nowNs - this.#atNs) / 1e9);
    // A clock that steps back must not count time twice.
    this.#atNs = Math.max(this.#atNs, nowNs);
    return dtS;
  }
}

/** Velocities and accelerations are zero. */
function isAtRest(motion: Float64Array, joints: number): boolean {
  for (let i = joints; i < motion.length; i++) if (motion[i] !== 0) return false;
  return true;
}
