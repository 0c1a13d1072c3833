import { brake, restOffset, restTimeS } from './brake.ts';
import type { ClearanceField } from './collision.ts';
import type { JointLimits } from './limits.ts';

export interface GuardSettings {
  stopM: number;
  slowdownM: number;
  approachSpeedMS: number;
}

/** Safety margin added to the stopping clearance. */
const RESERVE_M = 0.001;
/** How far ahead the requested motion is checked to see what it approaches. */
const LOOK_AHEAD_S = 0.02;
/** Time steps of the poses checked along a stop: equal distances under constant deceleration. */
const PATH_STEPS = [0.134, 0.159, 0.207, 0.501];
/** Share of the stopping time after which to check what the arm moves away from. */
const GLIMPSE = 0.02;
const ROUNDING_M = 1e-9;
const FAR_M = 1e9;

/**
 * Keeps the arm clear of itself, its surroundings and the walls of its workspace. Guarantee: from every
 * motion it admits, the arm can brake to rest without coming closer to anything than the stopping clearance,
 * or than it already was. So braking is always a safe fallback.
 */
export class MotionGuard {
  /** The clearance that limited the last `speedShare` or failed the last `admits`; −1: none. */
  by = -1;
  readonly #field: ClearanceField;
  readonly #limits: JointLimits;
  readonly #settings: GuardSettings;
  readonly #stopM: Float64Array;
  readonly #zoneM: Float64Array;
  readonly #pose: Float64Array;
  readonly #path: Float64Array;
  readonly #probeM: Float64Array;
  readonly #sinceM: Float64Array;
  readonly #turnsRad: Float64Array;
  readonly #recedes: Uint8Array;
  readonly #restRad: Float64Array;
  /** Clearances that need a closer check. */
  readonly #picked: Int32Array;
  #pickedCount = 0;
  #nowM: Float64Array;
  #nextM: Float64Array;

  constructor(field: ClearanceField, limits: JointLimits, settings: GuardSettings) {
    this.#field = field;
    this.#limits = limits;
    this.#settings = settings;
    this.#stopM = field.restM.map((restM, k) => stopOf(restM, k < field.touching ? settings.stopM : 0));
    this.#zoneM = field.restM.map((restM) =>
      Math.max(RESERVE_M, Math.min(settings.slowdownM - settings.stopM, shareOf(restM)) - RESERVE_M),
    );
    this.#path = new Float64Array(limits.minRad.length * 3);
    this.#pose = this.#path.subarray(0, limits.minRad.length);
    this.#probeM = new Float64Array(field.size);
    this.#sinceM = new Float64Array(field.size);
    this.#recedes = new Uint8Array(field.size);
    this.#picked = new Int32Array(field.size);
    this.#restRad = new Float64Array(limits.minRad.length);
    this.#turnsRad = new Float64Array(limits.minRad.length);
    this.#nowM = new Float64Array(field.size).fill(FAR_M);
    this.#nextM = new Float64Array(field.size);
  }

  /** Sets the present pose without checking it. */
  measure(positionsRad: Float64Array): void {
    this.#field.measure(positionsRad, this.#nowM);
  }

  /** The smallest clearance to something that can be touched; −1: none. */
  get nearest(): number {
    let least = FAR_M;
    let nearest = -1;
    for (let k = 0; k < this.#field.touching; k++)
      if (this.#nowM[k]! < least) {
        least = this.#nowM[k]!;
        nearest = k;
      }
    return nearest;
  }

  clearanceM(k: number): number {
    return k < 0 ? Number.NaN : this.#nowM[k]!;
  }

  name(k: number): string {
    return this.#field.names[k] ?? '';
  }

  isWall(k: number): boolean {
    return k >= this.#field.touching;
  }

  /** The allowed share of the requested velocities: less, the closer the arm is to what it approaches. */
  speedShare(positionsRad: Float64Array, wantedRadS: Float64Array): number {
    this.by = -1;
    this.#pickApproached(wantedRadS);
    if (this.#pickedCount === 0) return 1;
    for (let i = 0; i < this.#pose.length; i++)
      this.#pose[i] = positionsRad[i]! + wantedRadS[i]! * LOOK_AHEAD_S;
    this.#look(this.#probeM);
    let share = 1;
    for (let n = 0; n < this.#pickedCount; n++) {
      const k = this.#picked[n]!;
      const approachMS = (this.#nowM[k]! - this.#probeM[k]!) / LOOK_AHEAD_S;
      const allowedMS = this.#allowedMS(k);
      if (approachMS <= ROUNDING_M || allowedMS >= share * approachMS) continue;
      share = allowedMS / approachMS;
      this.by = k;
    }
    return share;
  }

  /** How fast this clearance may shrink. */
  #allowedMS(k: number): number {
    const slackM = this.#nowM[k]! - this.#stopM[k]!;
    if (slackM >= this.#zoneM[k]!) return FAR_M;
    return (this.#settings.approachSpeedMS * Math.max(0, slackM)) / this.#zoneM[k]!;
  }

  /** Picks the clearances that might shrink too fast in the worst case. */
  #pickApproached(wantedRadS: Float64Array): void {
    this.#pickedCount = 0;
    for (let k = 0; k < this.#nowM.length; k++) {
      const allowedMS = this.#allowedMS(k);
      if (allowedMS < FAR_M && this.#worstM(k, wantedRadS) > allowedMS) this.#picked[this.#pickedCount++] = k;
    }
  }

  /** Measures the picked clearances in `#pose`. */
  #look(outM: Float64Array): void {
    this.#field.measureSome(this.#pose, this.#picked, this.#pickedCount, outM);
  }

  /** The most that clearance `k` can change when the joints turn by these angles, in either direction. */
  #worstM(k: number, turnsRad: Float64Array): number {
    const { reachM } = this.#field;
    const joints = turnsRad.length;
    let sum = 0;
    for (let i = 0; i < joints; i++) sum += reachM[k * joints + i]! * Math.abs(turnsRad[i]!);
    return sum;
  }

  /** Whether this motion is safe. If so, it becomes the present one. */
  admits(motion: Float64Array): boolean {
    if (this.#field.size === 0) return true;
    this.by = -1;
    this.#path.set(motion);
    this.#field.measure(this.#pose, this.#nextM);
    for (let k = 0; k < this.#nextM.length; k++) if (!this.#isClear(k, this.#nextM)) return false;
    this.#pickReachable(motion);
    if (this.#pickedCount > 0 && !this.#isPathClear(motion)) return false;
    const spare = this.#nowM;
    this.#nowM = this.#nextM;
    this.#nextM = spare;
    return true;
  }

  /** The lowest value allowed for clearance `k`: the present one if that is already below the stop. */
  #floorM(k: number): number {
    return Math.min(this.#stopM[k]!, this.#nowM[k]!) - ROUNDING_M;
  }

  /** Sets `by` on failure. A NaN clearance is unknown and so not clear. */
  #isClear(k: number, clearancesM: Float64Array): boolean {
    if (clearancesM[k]! >= this.#floorM(k)) return true;
    this.by = k;
    return false;
  }

  /** Picks the clearances that might become too small while braking; the others cannot shrink that much. */
  #pickReachable(motion: Float64Array): void {
    const { accelerationRadS2, jerkRadS3 } = this.#limits;
    const joints = accelerationRadS2.length;
    for (let i = 0; i < joints; i++) {
      const v = motion[joints + i]!;
      const a = motion[2 * joints + i]!;
      const restRad = restOffset(v, a, accelerationRadS2[i]!, jerkRadS3[i]!);
      this.#restRad[i] = motion[i]! + restRad;
      // The second term: a joint about to reverse first moves a little further.
      this.#turnsRad[i] = Math.abs(restRad) + (2 * Math.abs(v * a)) / jerkRadS3[i]!;
    }
    this.#pickedCount = 0;
    for (let k = 0; k < this.#nextM.length; k++)
      if (!(this.#nextM[k]! - this.#worstM(k, this.#turnsRad) >= this.#floorM(k)))
        this.#picked[this.#pickedCount++] = k;
  }

  /** Checks the final pose, and some poses on the way unless the bound on the two ends is enough. */
  #isPathClear(motion: Float64Array): boolean {
    this.#pose.set(this.#restRad);
    this.#look(this.#probeM);
    for (let n = 0; n < this.#pickedCount; n++)
      if (!this.#isClear(this.#picked[n]!, this.#probeM)) return false;
    this.#recedes.fill(0);
    if (this.#vouch(this.#nextM, this.#probeM)) return true;
    const longestS = this.#longestS(motion);
    this.#glimpse(motion, longestS);
    this.#path.set(motion);
    this.#sinceM.set(this.#nextM);
    for (let n = 0; n < PATH_STEPS.length; n++) {
      this.#brakeFor(PATH_STEPS[n]! * longestS);
      this.#look(this.#probeM);
      if (!this.#vouch(this.#sinceM, this.#probeM)) return false;
      this.#sinceM.set(this.#probeM);
    }
    return true;
  }

  #longestS(motion: Float64Array): number {
    const { accelerationRadS2, jerkRadS3 } = this.#limits;
    const joints = accelerationRadS2.length;
    let longestS = 0;
    for (let i = 0; i < joints; i++) {
      const v = motion[joints + i]!;
      const a = motion[2 * joints + i]!;
      longestS = Math.max(longestS, restTimeS(v, a, accelerationRadS2[i]!, jerkRadS3[i]!));
    }
    return longestS;
  }

  /** Finds what the arm moves away from at first. */
  #glimpse(motion: Float64Array, longestS: number): void {
    this.#path.set(motion);
    this.#brakeFor(GLIMPSE * longestS);
    this.#look(this.#sinceM);
    for (let n = 0; n < this.#pickedCount; n++) {
      const k = this.#picked[n]!;
      this.#recedes[k] = this.#sinceM[k]! >= this.#nextM[k]! - ROUNDING_M ? 1 : 0;
    }
  }

  /** Brakes along the path and records how far the joints turn. */
  #brakeFor(dtS: number): void {
    const { accelerationRadS2, jerkRadS3 } = this.#limits;
    const joints = accelerationRadS2.length;
    for (let i = 0; i < joints; i++) {
      const turningRad =
        (2 * Math.abs(this.#path[joints + i]! * this.#path[2 * joints + i]!)) / jerkRadS3[i]!;
      const from = this.#path[i]!;
      brake(this.#path, i, accelerationRadS2[i]!, jerkRadS3[i]!, dtS);
      this.#turnsRad[i] = Math.abs(this.#path[i]! - from) + turningRad;
    }
  }

  /**
   * Between two poses a clearance stays above their mean minus half of its largest possible change over the
   * joints' rotation. A clearance that grew at the start and is no smaller at the end of this piece did not
   * dip: the distance to something convex first falls, then grows. Sets `by` to a clearance that might become
   * too small.
   */
  #vouch(beforeM: Float64Array, afterM: Float64Array): boolean {
    for (let n = 0; n < this.#pickedCount; n++) {
      const k = this.#picked[n]!;
      const lowestM = (beforeM[k]! + afterM[k]! - this.#worstM(k, this.#turnsRad)) / 2;
      if (lowestM >= this.#floorM(k)) continue;
      if (this.#recedes[k] === 1 && afterM[k]! >= beforeM[k]! - ROUNDING_M) continue;
      this.by = k;
      return false;
    }
    return true;
  }
}

/**
 * Parts of the arm that are close together in the home pose by design keep half of that clearance, and slow
 * down in the other half. Parts that overlap in the home pose are an error in the model and get no exception.
 */
const shareOf = (restM: number): number => (restM > 0 ? restM / 2 : Number.POSITIVE_INFINITY);

const stopOf = (restM: number, stopM: number): number =>
  Math.min(stopM, shareOf(restM)) + Math.min(RESERVE_M, shareOf(restM) / 2);
