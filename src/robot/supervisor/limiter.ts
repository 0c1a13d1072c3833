import { LIMITED_BY, type LimitedBy } from '../../messages/robot-state.ts';
import { brake, ease, glide, motionOf, restOffset } from './brake.ts';
import type { MotionGuard } from './guard.ts';
import type { JointLimits } from './limits.ts';
import { StreamReference } from './reference.ts';

/**
 * A step later than this brakes for the whole gap: of all motions inside the limits since the last target,
 * that one is the shortest.
 */
const MAX_STEP_S = 0.05;
/** Inner steps are at most this long. */
const SUBSTEP_S = 0.0025;
/** Largest gain of the velocity loop; the position loop gets a quarter. */
const MAX_GAIN_PER_S = 100;
/** Share of the acceleration limit that an approach plans with. */
const APPROACH_SHARE = 0.6;
/**
 * The jerk limit is reported when the acceleration misses its request by more than this share of its limit.
 */
const JERK_SHARE = 0.5;
/** The velocity limit is reported only for a joint this close to it. */
const FAST_SHARE = 0.9;
/** Thresholds within which a target has arrived. */
const ARRIVED_RAD = 1e-8;
const ARRIVED_RAD_S = 1e-7;
const ARRIVED_RAD_S2 = 1e-5;
/** A slowdown to more than this share of the requested speed is not reported. */
const NOTICED_SHARE = 0.98;

export interface FollowSettings {
  /** Distance from the end of the range at which a joint slows down. */
  limitSlowdownRad: number;
  singularityMargin: number;
  /** Share of the speed allowed in a singularity. */
  singularityShare: number;
  /** Whether the goal keeps moving when commands are missing. */
  extrapolate: boolean;
}

/** Gains per second, low enough for the joint's jerk limit. */
interface Gains {
  velocity: Float64Array;
  position: Float64Array;
}

/**
 * Moves the driver's target to a streamed goal within range, velocity, acceleration and jerk limits, clear of
 * what the guard watches, and brings it to rest within them. Between calls the target moves at piecewise
 * constant jerk. Every step ends in a motion from which braking stays within all limits. Plain state, no
 * clock.
 */
export class TargetLimiter {
  readonly targetRad: Float64Array;
  /** The target's velocities. */
  readonly velocitiesRadS: Float64Array;
  readonly accelerationsRadS2: Float64Array;
  readonly reference: StreamReference;
  /** The limit that held the target back in the last step. */
  limitedBy: LimitedBy = '';
  /** Share of the velocity limits that may be used; below 1 while catching up after engaging. */
  speedShare = 1;
  readonly guard: MotionGuard;
  readonly #limits: JointLimits;
  readonly #settings: FollowSettings;
  readonly #manipulability: (qRad: ArrayLike<number>) => number;
  readonly #gains: Gains;
  readonly #joints: number;
  readonly #motion: Float64Array;
  readonly #candidate: Float64Array;
  readonly #wantedRadS: Float64Array;
  readonly #aheadRad: Float64Array;
  /** The reference at the current instant, and the velocities that lead to it. */
  readonly #refRad: Float64Array;
  readonly #refRadS: Float64Array;
  readonly #leadRadS: Float64Array;
  /**
   * Length of an inner step in seconds, and the allowed share of the velocities. V8 boxes a float passed to a
   * call.
   */
  readonly #inner = new Float64Array(2);
  #atNs = 0;

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
    this.#gains = gainsOf(limits);
    this.#motion = motionOf(joints);
    this.#candidate = motionOf(joints);
    this.#wantedRadS = new Float64Array(joints);
    this.#aheadRad = new Float64Array(joints);
    this.#refRad = new Float64Array(joints);
    this.#refRadS = new Float64Array(joints);
    this.#leadRadS = new Float64Array(joints);
    this.targetRad = this.#motion.subarray(0, joints);
    this.velocitiesRadS = this.#motion.subarray(joints, 2 * joints);
    this.accelerationsRadS2 = this.#motion.subarray(2 * joints);
    this.reference = new StreamReference(limits, settings.extrapolate);
  }

  /**
   * Sets target and goal to the measured pose, at rest. Only before the driver's first target since power-on.
   */
  restart(measuredRad: Float64Array, nowNs: number): void {
    this.#motion.fill(0);
    this.targetRad.set(measuredRad);
    this.reference.restart(measuredRad, nowNs);
    this.guard.measure(this.targetRad);
    this.limitedBy = '';
    this.#atNs = nowNs;
  }

  /** Starts another stream. The target keeps its position and velocity. */
  resume(nowNs: number): void {
    this.reference.restart(this.targetRad, nowNs);
    this.limitedBy = '';
  }

  /** Moves the target towards the goal; false if it has arrived. */
  follow(nowNs: number): boolean {
    const dtS = this.#elapsedS(nowNs);
    if (this.#arrived(nowNs)) return false;
    if (dtS > MAX_STEP_S) this.#brake(dtS);
    else if (dtS > 0) {
      this.limitedBy = '';
      const share = this.#want(nowNs);
      this.#candidate.set(this.#motion);
      this.#substeps(this.#candidate, nowNs, dtS, share);
      if (this.guard.admits(this.#candidate)) this.#motion.set(this.#candidate);
      else {
        this.limitedBy = this.guard.isWall(this.guard.by) ? 'workspace' : 'collision';
        this.#brake(dtS);
      }
    }
    return true;
  }

  /** Brakes the target; true while it still moves. */
  settle(nowNs: number): boolean {
    this.limitedBy = '';
    const dtS = this.#elapsedS(nowNs);
    if (this.#isAtRest()) return false;
    this.#brake(dtS);
    return true;
  }

  /** Largest distance of any joint from its goal. */
  lagRad(nowNs: number): number {
    this.reference.at(nowNs, this.#refRad, this.#refRadS);
    let lag = 0;
    for (let i = 0; i < this.#joints; i++)
      lag = Math.max(lag, Math.abs(this.#refRad[i]! - this.targetRad[i]!));
    return lag;
  }

  #brake(dtS: number): void {
    const { accelerationRadS2, jerkRadS3 } = this.#limits;
    for (let i = 0; i < this.#joints; i++) {
      const from = this.#motion[i]!;
      brake(this.#motion, i, accelerationRadS2[i]!, jerkRadS3[i]!, dtS);
      this.#keepIn(this.#motion, i, from);
    }
    this.guard.measure(this.targetRad);
  }

  /**
   * Computes the requested velocities; returns the share of them that surroundings and singularities allow.
   */
  #want(nowNs: number): number {
    this.reference.at(nowNs, this.#refRad, this.#refRadS);
    for (let i = 0; i < this.#joints; i++) {
      this.#lead(this.#motion, i);
      this.#wantedRadS[i] = this.#leadRadS[i]!;
    }
    const clear = this.guard.speedShare(this.targetRad, this.#wantedRadS);
    if (clear < NOTICED_SHARE) this.limitedBy = this.guard.isWall(this.guard.by) ? 'workspace' : 'collision';
    const free = this.#singularityShare();
    if (free < NOTICED_SHARE && free < clear) this.limitedBy = 'singularity';
    return Math.min(clear, free);
  }

  #singularityShare(): number {
    const { singularityMargin, singularityShare } = this.#settings;
    if (singularityMargin === 0) return 1;
    const now = this.#manipulability(this.targetRad);
    if (now >= singularityMargin) return 1;
    for (let i = 0; i < this.#joints; i++)
      this.#aheadRad[i] = this.targetRad[i]! + this.#wantedRadS[i]! * 0.01;
    if (this.#manipulability(this.#aheadRad) >= now) return 1;
    return singularityShare + (1 - singularityShare) * (now / singularityMargin);
  }

  #substeps(motion: Float64Array, nowNs: number, dtS: number, share: number): void {
    const count = Math.ceil(dtS / SUBSTEP_S);
    const stepS = dtS / count;
    const startNs = nowNs - dtS * 1e9;
    this.#inner[0] = stepS;
    this.#inner[1] = share;
    for (let n = 1; n <= count; n++) {
      this.reference.at(startNs + n * stepS * 1e9, this.#refRad, this.#refRadS);
      for (let i = 0; i < this.#joints; i++) this.#substep(motion, i);
    }
  }

  /**
   * One small step of one joint: what the loops request if velocity and range allow it, else easing or
   * braking.
   */
  #substep(motion: Float64Array, i: number): void {
    const dtS = this.#inner[0]!;
    const share = this.#inner[1]!;
    this.#lead(motion, i);
    const joints = this.#joints;
    const maxA = this.#limits.accelerationRadS2[i]!;
    const maxJ = this.#limits.jerkRadS3[i]!;
    const maxV = this.#limits.velocityRadS[i]!;
    const p = motion[i]!;
    const v = motion[joints + i]!;
    const a = motion[2 * joints + i]!;
    const wantedA = this.#gains.velocity[i]! * (share * this.#leadRadS[i]! - v);
    const nextA = Math.max(-maxA, Math.min(maxA, wantedA));
    const jerk = Math.max(-maxJ, Math.min(maxJ, (nextA - a) / dtS));
    glide(motion, i, jerk, dtS);
    if (Math.abs(nextA - motion[2 * joints + i]!) > JERK_SHARE * maxA) this.#note('jerk');
    else if (nextA !== wantedA) this.#note('acceleration');
    if (Math.abs(endVelocity(motion, i, maxJ)) > maxV) {
      motion[i] = p;
      motion[joints + i] = v;
      motion[2 * joints + i] = a;
      ease(motion, i, maxJ, dtS);
    }
    if (this.#restsInside(motion, i, p)) return;
    motion[i] = p;
    motion[joints + i] = v;
    motion[2 * joints + i] = a;
    brake(motion, i, maxA, maxJ, dtS);
    this.#keepIn(motion, i, p);
  }

  /** A joint found outside its range may move back in, never further out. */
  #restsInside(motion: Float64Array, i: number, fromRad: number): boolean {
    const { minRad, maxRad, accelerationRadS2, jerkRadS3 } = this.#limits;
    const v = motion[this.#joints + i]!;
    const a = motion[2 * this.#joints + i]!;
    const rest = motion[i]! + restOffset(v, a, accelerationRadS2[i]!, jerkRadS3[i]!);
    return rest >= Math.min(minRad[i]!, fromRad) && rest <= Math.max(maxRad[i]!, fromRad);
  }

  /** Removes rounding errors that leave the range. */
  #keepIn(motion: Float64Array, i: number, fromRad: number): void {
    const low = Math.min(this.#limits.minRad[i]!, fromRad);
    const high = Math.max(this.#limits.maxRad[i]!, fromRad);
    motion[i] = Math.max(low, Math.min(high, motion[i]!));
  }

  /** The velocity that takes joint `i` from its position to its reference, within its velocity limit. */
  #lead(motion: Float64Array, i: number): void {
    const p = motion[i]!;
    const v = motion[this.#joints + i]!;
    const maxV = this.#limits.velocityRadS[i]!;
    const wanted = this.#refRadS[i]! + this.#closing(i, this.#refRad[i]! - p);
    const cap = maxV * this.speedShare;
    let velocity = Math.max(-cap, Math.min(cap, wanted));
    if (velocity !== wanted && Math.abs(v) > FAST_SHARE * cap)
      this.#note(this.speedShare < 1 ? 'engage-ramp' : 'velocity');
    const zone = this.#settings.limitSlowdownRad;
    if (zone > 0) {
      const room = velocity > 0 ? this.#limits.maxRad[i]! - p : p - this.#limits.minRad[i]!;
      const slow = (maxV * Math.max(0, room)) / zone;
      if (room >= 0 && Math.abs(velocity) > slow) {
        velocity = Math.sign(velocity) * slow;
        this.#note('joint-limit');
      }
    }
    this.#leadRadS[i] = velocity;
  }

  /** Speed at which to close a gap: proportional while it is small, else as fast as braking allows. */
  #closing(i: number, gapRad: number): number {
    const gain = this.#gains.position[i]!;
    const decel = APPROACH_SHARE * this.#limits.accelerationRadS2[i]!;
    const size = Math.abs(gapRad);
    const knee = decel / (gain * gain);
    if (size <= knee) return gain * gapRad;
    return Math.sign(gapRad) * Math.sqrt(2 * decel * (size - knee / 2));
  }

  #note(by: LimitedBy): void {
    if (RANK[by] > RANK[this.limitedBy]) this.limitedBy = by;
  }

  /** Snaps a target that has practically arrived to its goal, at rest. */
  #arrived(nowNs: number): boolean {
    this.reference.at(nowNs, this.#refRad, this.#refRadS);
    for (let i = 0; i < this.#joints; i++) {
      if (this.#refRadS[i] !== 0) return false;
      const gap = this.#refRad[i]! - this.targetRad[i]!;
      const v = this.#motion[this.#joints + i]!;
      const a = this.#motion[2 * this.#joints + i]!;
      if (Math.abs(gap) > ARRIVED_RAD || Math.abs(v) > ARRIVED_RAD_S || Math.abs(a) > ARRIVED_RAD_S2)
        return false;
    }
    this.#motion.fill(0, this.#joints);
    this.targetRad.set(this.#refRad);
    this.limitedBy = '';
    return true;
  }

  #isAtRest(): boolean {
    for (let i = this.#joints; i < this.#motion.length; i++) if (this.#motion[i] !== 0) return false;
    return true;
  }

  #elapsedS(nowNs: number): number {
    const dtS = Math.max(0, (nowNs - this.#atNs) / 1e9);
    // A clock that steps back must not count time twice.
    this.#atNs = Math.max(this.#atNs, nowNs);
    return dtS;
  }
}

/** When several limits apply at once, the most serious is reported. */
const RANK = Object.fromEntries(LIMITED_BY.map((by, rank) => [by, rank])) as Record<LimitedBy, number>;

/** The final velocity when the acceleration is ramped to zero as fast as allowed. */
function endVelocity(motion: Float64Array, i: number, maxJ: number): number {
  const joints = motion.length / 3;
  const a = motion[2 * joints + i]!;
  return motion[joints + i]! + (a * Math.abs(a)) / (2 * maxJ);
}

function gainsOf({ accelerationRadS2, jerkRadS3 }: JointLimits): Gains {
  const velocity = accelerationRadS2.map((maxA, i) => Math.min(MAX_GAIN_PER_S, (1.5 * jerkRadS3[i]!) / maxA));
  return { velocity, position: velocity.map((gain) => gain / 4) };
}
