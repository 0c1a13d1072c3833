import { shareOf, stopClearanceM } from '../../geometry/pairings.ts';
import type { LimitedBy } from '../../messages/robot-state.ts';
import type { ClearanceField } from './collision.ts';
import type { JointLimits } from './limits.ts';

export interface GuardSettings {
  stopM: number;
  slowdownM: number;
  approachSpeedMS: number;
}

const RESERVE_M = 0.001;
/** How far ahead the motion is checked to see what it approaches. */
const LOOK_AHEAD_S = 0.02;
/** Pieces in which a stop is checked if its two ends do not suffice. */
const PIECES = 4;
/** Points at which a straight line is checked. */
const LINE_POINTS = 12;
const ROUNDING_M = 1e-9;
const FAR_M = 1e9;
/** Clearances with less room than this are measured in every step; the others once the arm has moved that far. */
const NEAR_M = 0.08;

/**
 * Keeps the arm clear of itself, its surroundings and the walls of its workspace, whatever the commands are. Guarantee:
 * from every motion it admits, the arm can brake to rest, all joints together, without coming closer to anything than
 * the stopping clearance, or than it already was. So braking is always a safe fallback.
 *
 * Far from everything it measures nothing: no clearance can have shrunk by more than the joints' rotation times the
 * arm's reach. Hot path: nothing allocates.
 */
export class MotionGuard {
  /** The clearance that limited the last `speedShare` or failed the last `admits`; −1: none. */
  by = -1;
  readonly #field: ClearanceField;
  readonly #limits: JointLimits;
  readonly #settings: GuardSettings;
  readonly #stopM: Float64Array;
  readonly #zoneM: Float64Array;
  /** For each joint the longest reach of any clearance. */
  readonly #longestM: Float64Array;
  readonly #restRad: Float64Array;
  readonly #pose: Float64Array;
  readonly #turnsRad: Float64Array;
  readonly #probeM: Float64Array;
  readonly #sinceM: Float64Array;
  /** Clearances that need a closer check. */
  readonly #picked: Int32Array;
  #pickedCount = 0;
  /** The clearances when they were last measured, and in which pose. */
  readonly #nowM: Float64Array;
  readonly #beforeM: Float64Array;
  readonly #measuredRad: Float64Array;
  readonly #beforeRad: Float64Array;
  #leastSlackM = 0;
  #leastZoneM = 0;
  /** The clearances that were near when all were last measured, the least room of the others, and in which pose. */
  readonly #near: Int32Array;
  #nearCount = 0;
  #farRoomM = -1;
  readonly #allRad: Float64Array;

  constructor(field: ClearanceField, limits: JointLimits, settings: GuardSettings) {
    const joints = limits.minRad.length;
    const pose = () => new Float64Array(joints);
    const clearances = () => new Float64Array(field.size);
    this.#field = field;
    this.#limits = limits;
    this.#settings = settings;
    this.#stopM = field.restM.map((restM, k) =>
      stopClearanceM(restM, k < field.touching ? settings.stopM : 0),
    );
    this.#zoneM = field.restM.map((restM) =>
      Math.max(RESERVE_M, Math.min(settings.slowdownM - settings.stopM, shareOf(restM)) - RESERVE_M),
    );
    this.#longestM = pose().map((_, i) => {
      let longestM = 0;
      for (let k = 0; k < field.size; k++) longestM = Math.max(longestM, field.reachM[k * joints + i]!);
      return longestM;
    });
    this.#restRad = pose();
    this.#pose = pose();
    this.#turnsRad = pose();
    this.#measuredRad = pose();
    this.#beforeRad = pose();
    this.#probeM = clearances();
    this.#sinceM = clearances();
    this.#picked = new Int32Array(field.size);
    this.#near = new Int32Array(field.size);
    this.#allRad = pose();
    this.#nowM = clearances().fill(FAR_M);
    this.#beforeM = clearances();
  }

  /** Sets the present pose without checking it. */
  measure(positionsRad: Float64Array): void {
    this.#measureAll(positionsRad, NEAR_M);
  }

  /** Measures everything; what has less room than `nearM` is near. */
  #measureAll(positionsRad: Float64Array, nearM: number): void {
    this.#field.measure(positionsRad, this.#nowM);
    this.#allRad.set(positionsRad);
    this.#nearCount = 0;
    this.#farRoomM = FAR_M;
    for (let k = 0; k < this.#nowM.length; k++) {
      const roomM = this.#nowM[k]! - this.#stopM[k]! - this.#zoneM[k]!;
      // Written so that an unknown clearance (NaN) is near.
      if (!(roomM > nearM)) this.#near[this.#nearCount++] = k;
      else if (roomM < this.#farRoomM) this.#farRoomM = roomM;
    }
    this.#note(positionsRad);
  }

  /** Measures everything that can matter in a pose, on the way to another one, or there. The rest is far. */
  #measureFor(positionsRad: Float64Array, towardsRad: Float64Array): void {
    if (this.#movedM(this.#allRad, positionsRad, towardsRad) < this.#farRoomM) {
      this.#field.measureSome(positionsRad, this.#near, this.#nearCount, this.#nowM);
      this.#note(positionsRad);
    } else this.#measureAll(positionsRad, NEAR_M + this.#movedM(positionsRad, positionsRad, towardsRad));
  }

  /** How much the arm may move from here before anything has to be measured again. */
  #note(positionsRad: Float64Array): void {
    this.#measuredRad.set(positionsRad);
    this.#leastSlackM = this.#leastZoneM =
      this.#farRoomM - this.#movedM(this.#allRad, positionsRad, positionsRad);
    for (let n = 0; n < this.#nearCount; n++) {
      const k = this.#near[n]!;
      // Written so that an unknown clearance (NaN) leaves no slack.
      const slackM = this.#nowM[k]! - this.#stopM[k]!;
      if (!(slackM >= this.#leastSlackM)) this.#leastSlackM = slackM >= 0 ? slackM : -1;
      if (!(slackM - this.#zoneM[k]! >= this.#leastZoneM)) this.#leastZoneM = slackM - this.#zoneM[k]!;
    }
  }

  /** Something around the arm moved: the clearances must be measured again. */
  doubt(): void {
    this.#leastSlackM = this.#leastZoneM = this.#farRoomM = -1;
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

  /** What kind of limit `by` is. */
  get reason(): LimitedBy {
    return this.by >= this.#field.touching ? 'workspace' : 'collision';
  }

  /** The allowed share of these velocities: less, the closer the arm is to what it approaches. */
  speedShare(positionsRad: Float64Array, wantedRadS: Float64Array): number {
    this.by = -1;
    const movedM = this.#movedM(this.#measuredRad, positionsRad, positionsRad);
    if (movedM <= this.#leastZoneM) return 1;
    // The pose of the last step, which was measured then, unless it was taken back.
    if (movedM > 0 || this.#leastSlackM < 0) this.#measureFor(positionsRad, positionsRad);
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

  /** The most that any clearance can change from one pose to two others and between them. */
  #movedM(fromRad: Float64Array, aRad: Float64Array, bRad: Float64Array): number {
    let sum = 0;
    for (let i = 0; i < aRad.length; i++) {
      const from = fromRad[i]!;
      sum += this.#longestM[i]! * Math.max(Math.abs(aRad[i]! - from), Math.abs(bRad[i]! - from));
    }
    return sum;
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
    for (let n = 0; n < this.#nearCount; n++) {
      const k = this.#near[n]!;
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

  /** Whether the arm may be here at this velocity. */
  admits(positionsRad: Float64Array, velocitiesRadS: Float64Array): boolean {
    this.by = -1;
    this.#plan(positionsRad, velocitiesRadS);
    if (this.#field.size === 0) return true;
    if (this.#movedM(this.#measuredRad, positionsRad, this.#restRad) <= this.#leastSlackM) return true;
    this.#beforeM.set(this.#nowM);
    this.#beforeRad.set(this.#measuredRad);
    this.#measureFor(positionsRad, this.#restRad);
    if (this.#isAdmitted(positionsRad)) return true;
    // The arm does not go there: what it may keep is what it had before.
    this.#nowM.set(this.#beforeM);
    this.#measuredRad.set(this.#beforeRad);
    this.#leastSlackM = this.#leastZoneM = -1;
    return false;
  }

  #isAdmitted(positionsRad: Float64Array): boolean {
    for (let n = 0; n < this.#nearCount; n++)
      if (!this.#isClear(this.#near[n]!, this.#nowM, this.#beforeM)) return false;
    this.#pickReachable();
    return this.#pickedCount === 0 || this.#isStopClear(positionsRad);
  }

  /**
   * Whether nothing comes too close on a straight line between two poses, checked at several of its points. Only to
   * choose a path: whatever is chosen is guarded like any other.
   */
  isLineClear(fromRad: Float64Array, toRad: Float64Array): boolean {
    this.#field.measure(fromRad, this.#sinceM);
    for (let point = 1; point <= LINE_POINTS; point++) {
      for (let i = 0; i < this.#pose.length; i++)
        this.#pose[i] = fromRad[i]! + (point / LINE_POINTS) * (toRad[i]! - fromRad[i]!);
      this.#field.measure(this.#pose, this.#probeM);
      for (let k = 0; k < this.#probeM.length; k++)
        if (!(this.#probeM[k]! >= Math.min(this.#stopM[k]!, this.#sinceM[k]!) - ROUNDING_M)) return false;
    }
    return true;
  }

  /** Where the arm comes to rest if all joints brake together, in a straight line. */
  #plan(positionsRad: Float64Array, velocitiesRadS: Float64Array): void {
    const { accelerationRadS2, minRad, maxRad } = this.#limits;
    let longestS = 0;
    for (let i = 0; i < positionsRad.length; i++)
      longestS = Math.max(longestS, Math.abs(velocitiesRadS[i]!) / accelerationRadS2[i]!);
    for (let i = 0; i < positionsRad.length; i++) {
      const now = positionsRad[i]!;
      const rest = now + (velocitiesRadS[i]! * longestS) / 2;
      // A joint near the end of its range stops there, sooner than the others.
      this.#restRad[i] = Math.max(Math.min(minRad[i]!, now), Math.min(Math.max(maxRad[i]!, now), rest));
      this.#turnsRad[i] = this.#restRad[i]! - now;
    }
  }

  /** Above the stop, or no closer than before. Sets `by` on failure. A NaN clearance is unknown and so not clear. */
  #isClear(k: number, clearancesM: Float64Array, beforeM: Float64Array): boolean {
    if (clearancesM[k]! >= Math.min(this.#stopM[k]!, beforeM[k]!) - ROUNDING_M) return true;
    this.by = k;
    return false;
  }

  /** Picks the clearances that might become too small while braking; the others cannot shrink that much. */
  #pickReachable(): void {
    this.#pickedCount = 0;
    for (let n = 0; n < this.#nearCount; n++) {
      const k = this.#near[n]!;
      if (!(this.#nowM[k]! - this.#worstM(k, this.#turnsRad) >= Math.min(this.#stopM[k]!, this.#nowM[k]!)))
        this.#picked[this.#pickedCount++] = k;
    }
  }

  /** Checks the final pose, and some poses on the way unless the bound on the two ends is enough. */
  #isStopClear(positionsRad: Float64Array): boolean {
    this.#pose.set(this.#restRad);
    this.#look(this.#probeM);
    for (let n = 0; n < this.#pickedCount; n++)
      if (!this.#isClear(this.#picked[n]!, this.#probeM, this.#nowM)) return false;
    if (this.#vouch(this.#nowM, this.#probeM)) return true;
    this.#sinceM.set(this.#nowM);
    for (let i = 0; i < this.#turnsRad.length; i++) this.#turnsRad[i]! /= PIECES;
    for (let piece = 1; piece <= PIECES; piece++) {
      for (let i = 0; i < this.#pose.length; i++)
        this.#pose[i] = positionsRad[i]! + piece * this.#turnsRad[i]!;
      this.#look(this.#probeM);
      if (!this.#vouch(this.#sinceM, this.#probeM)) return false;
      this.#sinceM.set(this.#probeM);
    }
    return true;
  }

  /**
   * Whether every picked clearance stays large enough on the straight line between two poses, `#turnsRad` apart: it
   * stays above the smaller of its two ends less an eighth of its largest second derivative. Sets `by` to one that might
   * become too small.
   */
  #vouch(beforeM: Float64Array, afterM: Float64Array): boolean {
    const { roundM } = this.#field;
    let turnRad = 0;
    for (let i = 0; i < this.#turnsRad.length; i++) turnRad += Math.abs(this.#turnsRad[i]!);
    for (let n = 0; n < this.#pickedCount; n++) {
      const k = this.#picked[n]!;
      const movedM = this.#worstM(k, this.#turnsRad);
      const leastM = Math.min(beforeM[k]!, afterM[k]!);
      const apartM = Math.max(ROUNDING_M, roundM[k]! + Math.max(0, leastM));
      const dipM = (movedM * turnRad + (movedM * movedM) / apartM) / 8;
      if (leastM - dipM >= Math.min(this.#stopM[k]!, this.#nowM[k]!) - RESERVE_M / 2) continue;
      this.by = k;
      return false;
    }
    return true;
  }
}
