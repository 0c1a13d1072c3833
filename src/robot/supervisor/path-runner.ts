import { NS_PER_S } from '../../core/time/clock.ts';
import type { LimitedBy } from '../../messages/robot-state.ts';
import { DrawnPath, PLANNED_ACCELERATION, PLANNED_VELOCITY, PREDICTED_NODES } from './drawn-path.ts';
import type { JointLimits } from './limits.ts';

/** Length of a step. */
export const STEP_S = 0.0025;
/** How fast a gap along the path closes, per second. */
const CLOSING_PER_S = 25;
/** How fast a joint off the path returns to it, per second. */
const REJOIN_PER_S = 20;
/** Tolerated error of a prediction, and the longest one. */
const PREDICTED_RAD = 1e-3;
const MAX_PREDICTION_S = 0.06;
/** The arm stays this far behind the hand: ahead of its newest sample it would be off the path drawn so far. */
const BEHIND_S = 0.004;
/** The delay gets longer or shorter by at most this much per second. */
const DELAY_WARP = 0.3;
/** Longer gaps are pauses, and teach nothing about the stream. */
const MAX_HORIZON_S = 0.15;
const HORIZON_SHARE = 0.02;
/** Missing nodes are predicted for this many more spacings; then the arm brakes. */
const SPARE_NODES = 1.5;
/** A stream that was predicted worse than this leaps: its missing nodes are not predicted. */
const MAX_MISS_RAD = 0.03;
/** A lag beyond this is reported, with the limit that causes it. */
const NOTICED_LAG_S = 0.02;
const NOTICED_LAG_RAD = 2e-3;
/** An arm that the guard has kept at rest for this long leaves the path. */
const MAX_BLOCKED_S = 0.1;
/** Less than this share of the hand's rate counts as standing. */
const CRAWLING = 0.1;
/** Time between two looks for a short cut. */
const RETRY_NS = 0.1 * NS_PER_S;
const SEAT_ROUNDS = 3;
const STILL_RAD_S = 1e-9;
const FLAT = 1e-12;

/** Whether the arm may move in a straight line from one pose to another. Changes nothing; hot path. */
export type LineCheck = (fromRad: Float64Array, toRad: Float64Array) => boolean;

/**
 * Runs along a drawn path in fixed steps: on time where it can, and where a limit acts, all joints slow down together
 * and catch up later, so that the path stays. Every step keeps each joint's velocity and acceleration limits. Plain
 * state; nothing allocates.
 */
export class PathRunner {
  readonly path: DrawnPath;
  /** Joint positions after the last step. */
  readonly rawRad: Float64Array;
  /** What slowed the last step. */
  limitedBy: LimitedBy = '';
  /** Time by which the arm is behind the path. */
  lagS = 0;
  /** Share of the velocity limits that may be used. */
  speedShare = 1;
  /** Why that share is below one. */
  slowedBy: LimitedBy = '';
  /** The time of the next `step`: a field, for the reason that `DrawnPath.u` gives. */
  atNs = 0;
  /** Highest speed along the path that the surroundings allow, in nodes per second, and which of them. */
  mostRate = Number.POSITIVE_INFINITY;
  mostRateBy: LimitedBy = '';
  readonly #limits: JointLimits;
  readonly #isLineClear: LineCheck;
  readonly #extrapolates: boolean;
  readonly #maxLagS: number;
  readonly #velocityRadS: Float64Array;
  readonly #hereRad: Float64Array;
  readonly #nextRad: Float64Array;
  readonly #slope: Float64Array;
  readonly #bend: Float64Array;
  /** Before the last step. */
  readonly #lastRad: Float64Array;
  readonly #lastRadS: Float64Array;
  #lastU = 0.5;
  #lastRate = 0;
  #blockedS = 0;
  #triedNs = Number.NEGATIVE_INFINITY;
  #crawledS = 0;
  #u = 0.5;
  #rate = 0;
  #wanted = 0;
  #predictionS = 0;
  #isDoubtful = false;
  /** Longest time for which the path had to be predicted, and the delay that keeps it tolerable. */
  #horizonS = 0;
  #delayS = 0;
  #fastest = 0;
  /** Bounds of the acceleration along the path. */
  #low = 0;
  #high = 0;
  /** How much of its acceleration the joint behind each bound needs for it. */
  #lowWeight = 0;
  #highWeight = 0;

  constructor(limits: JointLimits, isLineClear: LineCheck, extrapolates: boolean, maxLagS: number) {
    const joints = limits.minRad.length;
    this.path = new DrawnPath(limits);
    this.#limits = limits;
    this.#isLineClear = isLineClear;
    this.#extrapolates = extrapolates;
    this.#maxLagS = maxLagS;
    this.rawRad = new Float64Array(joints);
    this.#velocityRadS = new Float64Array(joints);
    this.#hereRad = new Float64Array(joints);
    this.#lastRad = new Float64Array(joints);
    this.#lastRadS = new Float64Array(joints);
    this.#nextRad = new Float64Array(joints);
    this.#slope = new Float64Array(joints);
    this.#bend = new Float64Array(joints);
  }

  /** At rest in a pose. */
  restart(poseRad: Float64Array, nowNs: number): void {
    this.rawRad.set(poseRad);
    this.#velocityRadS.fill(0);
    this.resume(nowNs);
  }

  /** A new path from where the joints are; they keep their velocities. */
  resume(nowNs: number): void {
    this.path.restart(this.rawRad, nowNs);
    this.#u = this.path.endU;
    this.#rate = 0;
    this.atNs = nowNs;
    this.limitedBy = '';
    this.lagS = 0;
    this.mostRate = Number.POSITIVE_INFINITY;
  }

  add(poseRad: ArrayLike<number>, atNs: number): void {
    if (this.path.isFull) this.path.cut(this.#u);
    const horizonS = (this.atNs - this.path.nodeNs(this.path.last)) / NS_PER_S;
    if (horizonS < MAX_HORIZON_S)
      this.#horizonS = Math.max(horizonS, this.#horizonS + HORIZON_SHARE * (horizonS - this.#horizonS));
    const endU = this.path.endU;
    this.path.add(poseRad, atNs);
    this.#isDoubtful = false;
    if (this.#u > endU) this.#seat(endU);
  }

  /**
   * The arm ran ahead on a prediction and the path has turned out differently: continues from the point of the path that
   * is nearest to the joints, at their speed.
   */
  #seat(fromU: number): void {
    const { path } = this;
    let u = this.#u;
    let along = 0;
    let square = 0;
    for (let round = 0; round < SEAT_ROUNDS; round++) {
      path.u = u;
      path.look(this.#hereRad, this.#slope, this.#bend);
      let off = 0;
      along = square = 0;
      for (let i = 0; i < this.rawRad.length; i++) {
        const slope = this.#slope[i]!;
        off += (this.rawRad[i]! - this.#hereRad[i]!) * slope;
        along += this.#velocityRadS[i]! * slope;
        square += slope * slope;
      }
      if (square < FLAT) {
        this.#u = Math.max(fromU, Math.min(u, path.endU));
        return;
      }
      u = Math.max(fromU, Math.min(this.#u, u + off / square));
    }
    this.#u = u;
    this.#rate = Math.max(0, Math.min(this.#rate, along / square));
  }

  /** Until the next node, the path is not predicted. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** Velocities of the last step. */
  get velocitiesRadS(): Float64Array {
    return this.#velocityRadS;
  }

  /** Nodes per second. */
  get rate(): number {
    return this.#rate;
  }

  get isAtRest(): boolean {
    for (let i = 0; i < this.rawRad.length; i++) if (this.#velocityRadS[i] !== 0) return false;
    return true;
  }

  /** One step towards where the path is at `atNs`, which is set before. */
  step(): void {
    const { path, atNs } = this;
    this.#remember();
    this.limitedBy = '';
    this.#adapt();
    const goalNs = atNs - (this.#delayS + BEHIND_S) * NS_PER_S;
    const mostNs = path.nodeNs(path.last) + this.#predictionS * NS_PER_S;
    path.soughtNs = Math.min(goalNs, mostNs);
    path.u = this.#u;
    path.find();
    const gap = path.u - this.#u;
    this.lagS = gap * path.spacingS;
    if (this.lagS > this.#maxLagS) {
      this.limitedBy = 'backlog';
      if (atNs - this.#triedNs > RETRY_NS) this.#takeShortCut();
    }
    this.#leaveBlocked();
    this.#prepare();
    const rate = goalNs < mostNs ? 1 / path.spacingS : 0;
    const braking = Math.max(0, -this.#low) / 2;
    this.#wanted = gap < 0 ? Math.max(0, rate + CLOSING_PER_S * gap) : rate + closing(gap, braking);
    this.#run();
    this.#rejoin(true);
    path.forget();
  }

  /** Leaves out the path up to the newest node if the straight line to it is clear. */
  #takeShortCut(): void {
    this.#triedNs = this.atNs;
    this.#newest();
    if (this.#isLineClear(this.rawRad, this.#nextRad)) this.path.cut(this.#u);
  }

  #newest(): void {
    for (let i = 0; i < this.rawRad.length; i++) this.#nextRad[i] = this.path.newest(i);
  }

  /** Takes back the last step: instead, brakes along the path, and returns to it in a straight line. */
  slowInstead(): void {
    this.rawRad.set(this.#lastRad);
    this.#velocityRadS.set(this.#lastRadS);
    this.#u = this.#lastU;
    this.#rate = this.#lastRate;
    this.#prepare();
    this.#wanted = 0;
    this.#run();
    const { accelerationRadS2 } = this.#limits;
    let closing = REJOIN_PER_S;
    for (let i = 0; i < this.rawRad.length; i++) {
      const offRad = Math.abs(this.#hereRad[i]! - this.#lastRad[i]!);
      if (offRad > FLAT) closing = Math.min(closing, Math.sqrt(accelerationRadS2[i]! / offRad));
    }
    // All joints change their velocities by the same share, so that the way back stays straight.
    let share = 1;
    for (let i = 0; i < this.rawRad.length; i++) {
      const alongRadS = (this.#nextRad[i]! - this.#hereRad[i]!) / STEP_S;
      const backRadS = closing * (this.#hereRad[i]! - this.#lastRad[i]!);
      this.#slope[i] = alongRadS + backRadS - this.#lastRadS[i]!;
      const change = Math.abs(this.#slope[i]!);
      if (change > FLAT) share = Math.min(share, (accelerationRadS2[i]! * STEP_S) / change);
    }
    for (let i = 0; i < this.rawRad.length; i++)
      this.#turn(i, this.#lastRad[i]!, this.#lastRadS[i]!, this.#lastRadS[i]! + share * this.#slope[i]!);
  }

  /** Takes back the last step: instead, all joints brake together, in a straight line. */
  stopInstead(): void {
    const { accelerationRadS2 } = this.#limits;
    let longestS = STEP_S;
    for (let i = 0; i < this.rawRad.length; i++)
      longestS = Math.max(longestS, Math.abs(this.#lastRadS[i]!) / accelerationRadS2[i]!);
    const share = 1 - STEP_S / longestS;
    for (let i = 0; i < this.rawRad.length; i++) {
      this.#turn(i, this.#lastRad[i]!, this.#lastRadS[i]!, this.#lastRadS[i]! * share);
    }
    this.#u = this.#lastU + this.#lastRate * share * STEP_S;
    this.#rate = this.#lastRate * share;
  }

  /** After a step that was taken back: an arm that stays at rest looks for another path. */
  noteBlocked(): void {
    this.#blockedS = this.isAtRest ? this.#blockedS + STEP_S : 0;
    if (this.#blockedS < MAX_BLOCKED_S) return;
    // Something on the path is in the way for good: tries the straight one to the newest node.
    this.#detour();
    this.#blockedS = 0;
  }

  /** An arm that the surroundings keep from getting on leaves the path: the hand may be elsewhere by now. */
  #leaveBlocked(): void {
    const crawls = this.mostRate * this.path.spacingS < CRAWLING && this.lagS > MAX_BLOCKED_S;
    this.#crawledS = crawls ? this.#crawledS + STEP_S : 0;
    if (this.#crawledS < MAX_BLOCKED_S) return;
    this.#detour();
    this.#crawledS = 0;
  }

  /** From where the joints are, which hardly move, straight to the newest node, if nothing is in between. */
  #detour(): void {
    const { path } = this;
    const newestNs = path.nodeNs(path.last);
    this.#newest();
    if (!this.#isLineClear(this.rawRad, this.#nextRad)) return;
    path.restart(this.rawRad, newestNs - path.spacingS * NS_PER_S);
    this.#u = path.endU;
    this.#rate = 0;
    path.add(this.#nextRad, newestNs);
  }

  /** Keeps what the next step begins with. */
  #remember(): void {
    this.#lastRad.set(this.rawRad);
    this.#lastRadS.set(this.#velocityRadS);
    this.#lastU = this.#u;
    this.#lastRate = this.#rate;
  }

  /** One step of coming to rest along the path. */
  brake(): void {
    this.#remember();
    this.limitedBy = '';
    this.lagS = 0;
    this.#prepare();
    this.#wanted = 0;
    this.#run();
    this.#rejoin(false);
  }

  /** Adapts how far ahead of the newest node the arm runs, and the delay for what is missing. Slowly: it warps time. */
  #adapt(): void {
    const { missRad, spacingS } = this.path;
    // The error grows with about the third power of the time.
    const share = Math.cbrt(PREDICTED_RAD / Math.max(FLAT, missRad));
    const isKnown = this.path.isPredictable && missRad < MAX_MISS_RAD && !this.#isDoubtful;
    const predicts = this.#extrapolates && isKnown;
    const mostS = predicts ? Math.min(MAX_PREDICTION_S, PREDICTED_NODES * spacingS * share) : 0;
    this.#predictionS = predicts ? mostS + SPARE_NODES * spacingS : 0;
    const change = Math.max(0, this.#horizonS - mostS) - this.#delayS;
    const most = DELAY_WARP * STEP_S;
    this.#delayS += Math.max(-most, Math.min(most, change));
  }

  /** The path here, and the acceleration along it that the joints allow now and after this step. */
  #prepare(): void {
    const { path } = this;
    path.u = this.#u;
    path.look(this.#hereRad, this.#slope, this.#bend);
    this.#fastest = this.#fastestHere();
    this.#low = Number.NEGATIVE_INFINITY;
    this.#high = Number.POSITIVE_INFINITY;
    this.#bound();
    path.u = this.#u + this.#rate * STEP_S;
    path.look(this.#nextRad, this.#slope, this.#bend);
    this.#bound();
  }

  /** Moves on along the path, as fast as wanted if the limits allow it. */
  #run(): void {
    this.#accelerate();
    this.#u += this.#rate * STEP_S;
    this.path.u = this.#u;
    this.path.look(this.#nextRad, this.#slope, this.#bend);
  }

  #accelerate(): void {
    const before = this.#rate;
    let next = this.#wanted;
    if (next > this.#fastest) {
      next = this.#fastest;
      this.#noteLag(
        this.#fastest === this.mostRate ? this.mostRateBy : this.speedShare < 1 ? this.slowedBy : 'velocity',
      );
    }
    const most = Math.sqrt(Math.max(0, this.path.mostAt(this.#u + before * STEP_S)));
    if (next > most) {
      next = most;
      this.#noteLag('acceleration');
    }
    const high = before + this.#high * STEP_S;
    if (next > high) {
      next = high;
      this.#noteLag('acceleration');
    }
    const low = before + this.#low * STEP_S;
    this.#rate = Math.max(0, next, low);
  }

  #noteLag(by: LimitedBy): void {
    if (this.limitedBy !== '' || this.lagS <= NOTICED_LAG_S) return;
    for (let i = 0; i < this.rawRad.length; i++)
      if (Math.abs(this.path.newest(i) - this.rawRad[i]!) > NOTICED_LAG_RAD) {
        this.limitedBy = by;
        return;
      }
  }

  /** Highest speed along the path by the joints' velocities and the surroundings. */
  #fastestHere(): number {
    const { velocityRadS } = this.#limits;
    let fastest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < velocityRadS.length; i++) {
      const slope = Math.abs(this.#slope[i]!);
      if (slope > FLAT)
        fastest = Math.min(fastest, (PLANNED_VELOCITY * this.speedShare * velocityRadS[i]!) / slope);
    }
    return Math.min(fastest, this.mostRate);
  }

  /** Narrows the acceleration along the path to what the joints allow at the present slope and bend. */
  #bound(): void {
    const { accelerationRadS2 } = this.#limits;
    const square = this.#rate * this.#rate;
    for (let i = 0; i < accelerationRadS2.length; i++) {
      const slope = this.#slope[i]!;
      if (Math.abs(slope) < 1e-9) continue;
      const most = PLANNED_ACCELERATION * accelerationRadS2[i]!;
      const bent = this.#bend[i]! * square;
      const a = (-most - bent) / slope;
      const b = (most - bent) / slope;
      const weight = Math.abs(slope) / accelerationRadS2[i]!;
      if (Math.min(a, b) > this.#low) {
        this.#low = Math.min(a, b);
        this.#lowWeight = weight;
      }
      if (Math.max(a, b) < this.#high) {
        this.#high = Math.max(a, b);
        this.#highWeight = weight;
      }
    }
    if (this.#low <= this.#high) return;
    // No acceleration suits all joints: the one that exceeds theirs least. A joint that is about to turn must not stop
    // the others.
    const share = this.#lowWeight / (this.#lowWeight + this.#highWeight);
    this.#low = this.#high = share * this.#low + (1 - share) * this.#high;
  }

  /** Moves the joints to the path, each within its limits. */
  #rejoin(closes: boolean): void {
    const { accelerationRadS2 } = this.#limits;
    for (let i = 0; i < this.rawRad.length; i++) {
      const at = this.rawRad[i]!;
      const alongRadS = (this.#nextRad[i]! - this.#hereRad[i]!) / STEP_S;
      const offRad = closes ? this.#hereRad[i]! - at : 0;
      const size = Math.abs(offRad);
      const backRadS =
        Math.sign(offRad) * Math.min(REJOIN_PER_S * size, Math.sqrt(accelerationRadS2[i]! * size));
      this.#turn(i, at, this.#velocityRadS[i]!, alongRadS + backRadS);
    }
  }

  /** Moves a joint at a velocity, or as close to it as its limits allow. */
  #turn(i: number, at: number, before: number, wantedRadS: number): void {
    const { minRad, maxRad, velocityRadS, accelerationRadS2 } = this.#limits;
    const maxA = accelerationRadS2[i]!;
    const maxV = velocityRadS[i]!;
    let velocity = Math.max(-maxV, Math.min(maxV, wantedRadS));
    velocity = Math.min(velocity, stoppable(Math.max(0, maxRad[i]! - at), maxA));
    velocity = Math.max(velocity, -stoppable(Math.max(0, at - minRad[i]!), maxA));
    velocity = Math.max(before - maxA * STEP_S, Math.min(before + maxA * STEP_S, velocity));
    if (Math.abs(velocity) < STILL_RAD_S) velocity = 0;
    this.#velocityRadS[i] = velocity;
    this.rawRad[i] = within(at, at + velocity * STEP_S, minRad[i]!, maxRad[i]!);
  }
}

/** Speed at which to close a gap along the path: proportional while it is small, else as fast as braking allows. */
function closing(gap: number, braking: number): number {
  // Where the path stands still, braking is unbounded.
  if (gap <= 0) return 0;
  return Math.min(CLOSING_PER_S * gap, Math.sqrt(2 * braking * gap));
}

/** Removes rounding errors that leave the range. A joint found outside may move in, not further out. */
export const within = (from: number, to: number, min: number, max: number): number =>
  Math.max(Math.min(min, from), Math.min(Math.max(max, from), to));

/** The highest speed from which a joint can still stop in this room, in whole steps. */
function stoppable(roomRad: number, maxA: number): number {
  const change = maxA * STEP_S;
  return -change + Math.sqrt(change * change + 2 * maxA * roomRad);
}
