/** Limits of the arm's joints that the wrist's rates depend on. */
export interface RateLimits {
  minRad: ArrayLike<number>;
  maxRad: ArrayLike<number>;
  velocityRadS: ArrayLike<number>;
  accelerationRadS2: ArrayLike<number>;
}

export const WRIST_JOINTS = 3;
/**
 * A wrist joint speeds up by this multiple of what the arm can do, and slows down by it while it trails: orientation gives
 * way before the path slows.
 */
const LIVELINESS = 8;
/** … and near a singularity, where it must turn far, by what the arm can do. */
const SINGULAR_LIVELINESS = 1;
/**
 * Where the hand itself turns, it speeds up and slows down by less: the arm has to run through these nodes without knowing
 * those to come, and a wrist that turns round at once throws it off its path.
 */
const TURNED_LIVELINESS = 1.2;
const TURNED_SINGULAR_LIVELINESS = 0.5;
/** Slower than the first the hand does not turn; at the second it turns fully. It is remembered for this long. */
const TURNS_FROM_RAD_S = 0.05;
const TURNS_RAD_S = 0.2;
const TURNED_S = 0.5;
const LEAST_TURNED = 0.02;
/**
 * An arm this far behind its nodes turns the wrist only as far as costs no time, or at this share of its speed: orientation
 * gives way before the path waits for it.
 */
const BEHIND_S = 0.4;
const LEAST_TURNING = 0.25;
/** That share changes with this time constant. */
const HASTE_S = 0.15;
/** Share of the velocity limits at which nodes are run through. */
const RUN_VELOCITY = 0.97;
/** A wrist joint slows down before the end of its range with this share of its acceleration … */
const LIMIT_BRAKING = 0.5;
/** … and, while it trails, with this one before its goal. */
const GOAL_BRAKING = 0.8;
/** The rate of that goal is averaged over this time. */
const GOAL_S = 0.05;
/** Near a singularity a joint turns no faster than it can within this time. */
const SINGULAR_S = 0.1;
/** The orientation waits more and more for an arm that is further behind, up to this. */
const FAR_BEHIND_S = 2;

/**
 * How fast the joints of the wrist may turn from one hand sample to the next, so that the arm can follow without leaving
 * its path. A wrist that may not turn as fast as the hand trails behind it; it then slows down before it has caught up,
 * as an arm must. Hot path: nothing allocates.
 */
export class WristRates {
  /** A bound kept the wrist from where the hand asked it to be. */
  isTrailing = false;
  readonly #limits: RateLimits;
  readonly #first: number;
  readonly #factor: number;
  /** Rates of the last sample. */
  readonly #rateRadS: Float64Array;
  /** Where a trailing wrist would be without these bounds, and how fast that moves; NaN: it does not trail. */
  readonly #goalRad: Float64Array;
  readonly #goalRadS: Float64Array;
  /** How far an arm at its velocity limits is behind the nodes, and the time that its first joints need per second. */
  #behindS = 0;
  #armLoad = 0;
  /** Share of the wrist's speed that may be used. */
  #share = 1;
  /** The hand's last orientation, and how much it turns: 0 not at all, 1 fully. */
  readonly #handXyzw = new Float64Array(4);
  #turned = 0;
  /** How much a joint may speed up, or slow down, in this sample, and how fast it may become. */
  #gainRadS = 0;
  #brakedRadS = 0;
  #mostRadS = 0;

  constructor(joints: number, limits: RateLimits, factor: number) {
    this.#limits = limits;
    this.#first = joints - WRIST_JOINTS;
    this.#factor = factor;
    this.#rateRadS = new Float64Array(joints);
    this.#goalRad = new Float64Array(joints);
    this.#goalRadS = new Float64Array(joints);
  }

  engage(): void {
    this.isTrailing = false;
    this.#rateRadS.fill(0);
    this.#behindS = this.#armLoad = 0;
    this.#share = 1;
    this.#handXyzw.fill(0);
    this.#turned = 0;
  }

  /** Takes the orientation that the hand asks for. */
  turn(quatXyzw: Float64Array, dtS: number): void {
    const last = this.#handXyzw;
    let cosine = 0;
    let size = 0;
    for (let i = 0; i < 4; i++) {
      cosine += quatXyzw[i]! * last[i]!;
      size += last[i]! * last[i]!;
    }
    last.set(quatXyzw);
    if (size === 0) return;
    // Small angles: 2 |q − p| for unit quaternions.
    const rateRadS = (2 * Math.sqrt(Math.max(0, 2 - 2 * Math.abs(cosine)))) / dtS;
    const turns = Math.min(1, (rateRadS - TURNS_FROM_RAD_S) / (TURNS_RAD_S - TURNS_FROM_RAD_S));
    const kept = this.#turned * Math.exp(-dtS / TURNED_S);
    this.#turned = Math.max(turns, kept > LEAST_TURNED ? kept : 0);
  }

  /** By how much of what the arm can do a joint may speed up. */
  #liveliness(isSingular: boolean): number {
    const still = isSingular ? SINGULAR_LIVELINESS : LIVELINESS;
    const turned = isSingular ? TURNED_SINGULAR_LIVELINESS : TURNED_LIVELINESS;
    return still * (turned / still) ** this.#turned;
  }

  /** How much the orientation has to wait for an arm that is behind: 0 not at all, 1 as much as it can. */
  get patience(): number {
    return Math.min(1, Math.max(0, this.#behindS - BEHIND_S) / (FAR_BEHIND_S - BEHIND_S));
  }

  /** Takes where a trailing wrist would be without these bounds: from these positions, this far. */
  aim(qRad: Float64Array, leftRad: Float64Array, dtS: number): void {
    const { minRad, maxRad } = this.#limits;
    for (let i = this.#first; i < qRad.length; i++) {
      const goal = Math.max(minRad[i]!, Math.min(maxRad[i]!, qRad[i]! + leftRad[i]!));
      const rate = (goal - this.#goalRad[i]!) / dtS;
      if (Number.isNaN(rate)) this.#goalRadS[i] = this.#rateRadS[i]!;
      else this.#goalRadS[i]! += (rate - this.#goalRadS[i]!) * Math.min(1, dtS / GOAL_S);
      this.#goalRad[i] = goal;
    }
  }

  /** Narrows what the wrist may do until this sample. A joint found outside its range may stay or come back. */
  bound(
    qRad: Float64Array,
    dtS: number,
    isSingular: boolean,
    lowRad: Float64Array,
    highRad: Float64Array,
  ): void {
    const { accelerationRadS2, velocityRadS, minRad, maxRad } = this.#limits;
    if (!this.isTrailing) this.#goalRad.fill(Number.NaN);
    const haste = Math.max(LEAST_TURNING, this.#armLoad, 1 - this.#behindS / BEHIND_S);
    // Slowly: a wrist that stops at once would bend the path.
    this.#share += (Math.min(1, haste) - this.#share) * Math.min(1, dtS / HASTE_S);
    const lively = this.#liveliness(isSingular);
    // A joint that stops or turns back at once throws the whole arm off its path.
    const brakes = isSingular || this.isTrailing || this.#turned > 0 ? lively : Number.POSITIVE_INFINITY;
    for (let i = this.#first; i < qRad.length; i++) {
      const now = qRad[i]!;
      this.#gainRadS = lively * accelerationRadS2[i]! * dtS;
      this.#brakedRadS = brakes * accelerationRadS2[i]! * dtS;
      this.#mostRadS = this.#share * this.#factor * velocityRadS[i]!;
      if (isSingular) this.#mostRadS = Math.min(this.#mostRadS, SINGULAR_S * accelerationRadS2[i]!);
      const up = this.#fastest(i, now, 1, maxRad[i]! - now);
      const down = this.#fastest(i, now, -1, now - minRad[i]!);
      highRad[i] = Math.min(highRad[i]!, now + up * dtS);
      lowRad[i] = Math.max(lowRad[i]!, now - down * dtS);
      // A joint that would still be turning at the end of its range stops there.
      if (this.#rateRadS[i]! > 0) lowRad[i] = Math.min(lowRad[i]!, highRad[i]!);
      else highRad[i] = Math.max(lowRad[i]!, highRad[i]!);
    }
  }

  /** By the rate before, what is left to the goal, and the room in the joint's range. Negative: it must turn back. */
  #fastest(i: number, now: number, sign: 1 | -1, roomRad: number): number {
    const accelerationRadS2 = this.#limits.accelerationRadS2[i]!;
    const rate = sign * this.#rateRadS[i]!;
    const turning = rate < 0 ? Math.min(this.#gainRadS, rate + this.#brakedRadS) : rate + this.#gainRadS;
    let fastest = Math.min(this.#mostRadS, turning);
    const left = sign * (this.#goalRad[i]! - now);
    // Not where the goal is unknown.
    if (left > 0) {
      const goalRadS = Math.max(0, sign * this.#goalRadS[i]!);
      fastest = Math.min(fastest, goalRadS + Math.sqrt(2 * GOAL_BRAKING * accelerationRadS2 * left));
    }
    fastest = Math.max(fastest, rate - this.#brakedRadS);
    return Math.min(fastest, Math.sqrt(2 * LIMIT_BRAKING * accelerationRadS2 * Math.max(0, roomRad)));
  }

  /** Takes what became of the sample: the rates, what they cost in time, and whether a bound was met. */
  pace(
    fromRad: Float64Array,
    qRad: Float64Array,
    dtS: number,
    lowRad: Float64Array,
    highRad: Float64Array,
  ): void {
    const { velocityRadS } = this.#limits;
    this.isTrailing = false;
    this.#armLoad = 0;
    let load = 0;
    for (let i = 0; i < qRad.length; i++) {
      this.#rateRadS[i] = (qRad[i]! - fromRad[i]!) / dtS;
      load = Math.max(load, Math.abs(this.#rateRadS[i]!) / (RUN_VELOCITY * velocityRadS[i]!));
      if (i === this.#first - 1) this.#armLoad = load;
      if (i >= this.#first && (qRad[i] === lowRad[i] || qRad[i] === highRad[i])) this.isTrailing = true;
    }
    this.#behindS = Math.max(0, this.#behindS + (load - 1) * dtS);
  }
}
