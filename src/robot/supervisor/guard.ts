import { brake, restOffset, restTimeS } from './brake.ts';
import type { ClearanceField } from './collision.ts';
import type { JointLimits } from './limits.ts';

export interface GuardSettings {
  stopM: number;
  slowdownM: number;
  approachSpeedMS: number;
}

/** Kept on top of the stopping clearance, for what lies between two poses that were looked at. */
const RESERVE_M = 0.001;
/** How far ahead the wanted motion is looked at to see what it approaches. */
const LOOK_AHEAD_S = 0.02;
/** Poses looked at on a way to rest that cannot be waved through. */
const WAY_SAMPLES = 4;
const ROUNDING_M = 1e-9;
const FAR_M = 1e9;

/**
 * Keeps the arm clear of itself, of what stands around it and of the walls of its workspace. The promise: from every
 * motion it admits, braking leads to rest without coming closer to anything than the stopping clearance, or closer than
 * it was where the arm was found nearer. So whoever may not go on can always brake.
 */
export class MotionGuard {
  /** What the last `speedShare` or refused `admits` was about; −1: nothing. */
  by = -1;
  readonly #field: ClearanceField;
  readonly #limits: JointLimits;
  readonly #settings: GuardSettings;
  readonly #stopM: Float64Array;
  readonly #zoneM: number;
  readonly #pose: Float64Array;
  readonly #way: Float64Array;
  readonly #probeM: Float64Array;
  #nowM: Float64Array;
  #nextM: Float64Array;

  constructor(field: ClearanceField, limits: JointLimits, settings: GuardSettings) {
    this.#field = field;
    this.#limits = limits;
    this.#settings = settings;
    this.#stopM = Float64Array.from({ length: field.size }, (_, k) =>
      k < field.touching ? settings.stopM + RESERVE_M : RESERVE_M,
    );
    this.#zoneM = Math.max(RESERVE_M, settings.slowdownM - settings.stopM - RESERVE_M);
    this.#way = new Float64Array(limits.minRad.length * 3);
    this.#pose = this.#way.subarray(0, limits.minRad.length);
    this.#probeM = new Float64Array(field.size);
    this.#nowM = new Float64Array(field.size).fill(FAR_M);
    this.#nextM = new Float64Array(field.size);
  }

  /** Takes a pose as the present one, whatever it is. */
  measure(positionsRad: Float64Array): void {
    this.#field.measure(positionsRad, this.#nowM);
  }

  /** Which clearance to something touchable is smallest; −1: there is none. */
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

  /** How much of the wanted velocities may be had: less the nearer the arm is to what it approaches. */
  speedShare(positionsRad: Float64Array, wantedRadS: Float64Array): number {
    this.by = -1;
    if (!this.#isNear()) return 1;
    for (let i = 0; i < this.#pose.length; i++)
      this.#pose[i] = positionsRad[i]! + wantedRadS[i]! * LOOK_AHEAD_S;
    this.#field.measure(this.#pose, this.#probeM);
    let share = 1;
    for (let k = 0; k < this.#nowM.length; k++) {
      const slackM = this.#nowM[k]! - this.#stopM[k]!;
      const approachMS = (this.#nowM[k]! - this.#probeM[k]!) / LOOK_AHEAD_S;
      if (slackM >= this.#zoneM || approachMS <= ROUNDING_M) continue;
      const allowedMS = (this.#settings.approachSpeedMS * Math.max(0, slackM)) / this.#zoneM;
      if (allowedMS >= share * approachMS) continue;
      share = allowedMS / approachMS;
      this.by = k;
    }
    return share;
  }

  #isNear(): boolean {
    for (let k = 0; k < this.#nowM.length; k++)
      if (this.#nowM[k]! - this.#stopM[k]! < this.#zoneM) return true;
    return false;
  }

  /** Whether the arm may get into this motion. It is the present one then. */
  admits(motion: Float64Array): boolean {
    if (this.#field.size === 0) return true;
    this.by = -1;
    this.#way.set(motion);
    this.#field.measure(this.#pose, this.#nextM);
    const slackM = this.#slackM(this.#nextM);
    if (!(slackM >= 0)) return false;
    if (!(slackM >= this.#wayToRestM(motion)) && !this.#isWayClear(motion)) return false;
    this.by = -1;
    const spare = this.#nowM;
    this.#nowM = this.#nextM;
    this.#nextM = spare;
    return true;
  }

  /** How much nearer anything might come without breaking the promise; names the worst in `by`. */
  #slackM(clearancesM: Float64Array): number {
    let least = FAR_M;
    for (let k = 0; k < clearancesM.length; k++) {
      const floorM = Math.min(this.#stopM[k]!, this.#nowM[k]!);
      const slackM = clearancesM[k]! - floorM + ROUNDING_M;
      if (slackM >= least) continue;
      least = slackM;
      this.by = k;
      // Not a number: nothing is known, so nothing is allowed.
      if (Number.isNaN(slackM)) break;
    }
    return least;
  }

  /** No point of the arm moves farther than this until it rests. */
  #wayToRestM(motion: Float64Array): number {
    const { accelerationRadS2, jerkRadS3 } = this.#limits;
    const joints = accelerationRadS2.length;
    let sum = 0;
    for (let i = 0; i < joints; i++) {
      const v = motion[joints + i]!;
      const a = motion[2 * joints + i]!;
      const jerk = jerkRadS3[i]!;
      // The second term: a joint about to turn round goes a little farther first.
      const turnRad = Math.abs(restOffset(v, a, accelerationRadS2[i]!, jerk)) + (2 * Math.abs(v * a)) / jerk;
      sum += this.#field.reachM[i]! * turnRad;
    }
    return sum;
  }

  #isWayClear(motion: Float64Array): boolean {
    const { accelerationRadS2, jerkRadS3 } = this.#limits;
    const joints = accelerationRadS2.length;
    let longestS = 0;
    for (let i = 0; i < joints; i++) {
      const restS = restTimeS(
        motion[joints + i]!,
        motion[2 * joints + i]!,
        accelerationRadS2[i]!,
        jerkRadS3[i]!,
      );
      longestS = Math.max(longestS, restS);
    }
    for (let n = 0; n < WAY_SAMPLES; n++) {
      for (let i = 0; i < joints; i++)
        brake(this.#way, i, accelerationRadS2[i]!, jerkRadS3[i]!, longestS / WAY_SAMPLES + Number.EPSILON);
      this.#field.measure(this.#pose, this.#probeM);
      if (!(this.#slackM(this.#probeM) >= 0)) return false;
    }
    return true;
  }
}
