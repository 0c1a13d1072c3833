import type { RobotModel } from '../../geometry/robot-model.ts';
import type { JointLimits } from './limits.ts';

/**
 * Each target may deviate this much from a motion inside the limits. This covers rounding and the last step
 * of a target that comes to rest; arm encoders are a hundred times coarser.
 */
const TOLERANCE_RAD = 2e-8;
/** Factor on a limit that allows for rounding. */
const ROUNDING = 1 + 1e-6;
/** Kept targets are at least this far apart in time: closer ones give no usable jerk. */
const APART_S = 0.002;
/** At the start the target counts as having been at rest for this long. */
const STOOD_S = 0.01;

/**
 * The final check of every target before the driver gets it, based only on the targets and their times.
 * Divided differences over the last four targets give a velocity, an acceleration and a jerk that any motion
 * through them must have had somewhere; those must not exceed the limits. Independent of the code that makes
 * the targets. Hot path: nothing allocates.
 */
export class TargetCheck {
  readonly #names: readonly string[];
  readonly #limits: JointLimits;
  /** Newest first. */
  readonly #kept: [Float64Array, Float64Array, Float64Array];
  readonly #keptNs = new Float64Array(3);
  readonly #seen: Float64Array;
  #seenNs = Number.NaN;
  /** Weights of the kept targets in the second and third difference, and of the tolerance in each. */
  readonly #weights = new Float64Array(7);
  #breach = '';

  constructor({ joints }: RobotModel, limits: JointLimits) {
    this.#names = joints.map(({ name }) => name);
    this.#limits = limits;
    const pose = () => new Float64Array(joints.length);
    this.#kept = [pose(), pose(), pose()];
    this.#seen = pose();
  }

  /** Why the last rejected target failed: joint, value and limit. */
  get breach(): string {
    return this.#breach;
  }

  /** Whether a motion inside the limits could have gone from the last target to rest in this pose by now. */
  canBegin(nowNs: number, poseRad: Float64Array): boolean {
    const elapsedS = (nowNs - this.#seenNs) / 1e9;
    // NaN: there was no target before.
    if (Number.isNaN(elapsedS)) return true;
    for (let i = 0; i < poseRad.length; i++)
      if (!(elapsedS >= this.#settleTimeS(i, poseRad[i]!))) return false;
    return true;
  }

  /** Sets the first target since power-on, a pose at rest. Does nothing if `canBegin` is false. */
  begin(nowNs: number, poseRad: Float64Array): void {
    if (!this.canBegin(nowNs, poseRad)) return;
    for (let k = 0; k < 3; k++) {
      this.#kept[k]!.set(poseRad);
      this.#keptNs[k] = nowNs - (k * STOOD_S * 1e9) / 2;
    }
    this.#seenNs = nowNs;
    this.#seen.set(poseRad);
  }

  /** Upper bound on the time to stop after the last target and then move to rest in another pose. */
  #settleTimeS(i: number, rad: number): number {
    const { velocityRadS, accelerationRadS2, jerkRadS3 } = this.#limits;
    const maxV = velocityRadS[i]!;
    const maxA = accelerationRadS2[i]!;
    const maxJ = jerkRadS3[i]!;
    const speed = this.#speedRadS(i, maxV, maxA);
    // The acceleration is ramped to zero first, during which the joint may still speed up.
    const restS = speed === 0 ? 0 : speed / maxA + (2.5 * maxA) / maxJ;
    const travelRad = Math.abs(rad - this.#seen[i]!) + (speed + (maxA * maxA) / (2 * maxJ)) * restS;
    // A quintic polynomial from rest to rest peaks at these multiples of the mean values.
    const evenS = Math.max((1.875 * travelRad) / maxV, Math.sqrt((5.7736 * travelRad) / maxA));
    return restS + Math.max(evenS, Math.cbrt((60 * travelRad) / maxJ));
  }

  /** Upper bound on the speed at the last target; 0 if it was at rest. */
  #speedRadS(i: number, maxV: number, maxA: number): number {
    const last = this.#seen[i]!;
    const first = this.#kept[0][i]!;
    const third = this.#kept[2][i]!;
    const strayRad = Math.max(
      Math.abs(first - last),
      Math.abs(this.#kept[1][i]! - last),
      Math.abs(third - last),
    );
    if (strayRad <= 2 * TOLERANCE_RAD) return 0;
    const spanS = (this.#keptNs[0]! - this.#keptNs[1]!) / 1e9;
    const meanRadS = Math.abs(first - this.#kept[1][i]!) / spanS;
    return Math.min(maxV, meanRadS + maxA * ((this.#seenNs - this.#keptNs[1]!) / 1e9));
  }

  /** Whether this may be the next target. If so, the next one is compared with it. */
  passes(nowNs: number, targetRad: Float64Array): boolean {
    this.#breach = '';
    const sinceS = Math.max(0, (nowNs - this.#seenNs) / 1e9);
    const keptS = (nowNs - this.#keptNs[0]!) / 1e9;
    if (keptS > 0) this.#weigh(nowNs);
    for (let i = 0; i < targetRad.length; i++) {
      const isOk = this.#isInRange(i, targetRad[i]!) && this.#isSlow(i, targetRad[i]!, sinceS);
      if (!isOk || (keptS > 0 && !this.#isSmooth(i, targetRad[i]!))) return false;
    }
    if (keptS >= APART_S) this.#keep(nowNs, targetRad);
    this.#seen.set(targetRad);
    // A clock that steps back must not count time twice.
    this.#seenNs = Math.max(this.#seenNs, nowNs);
    return true;
  }

  /** A joint found outside its range may move back in, never further out. */
  #isInRange(i: number, rad: number): boolean {
    const low = Math.min(this.#limits.minRad[i]!, this.#seen[i]!) - TOLERANCE_RAD;
    const high = Math.max(this.#limits.maxRad[i]!, this.#seen[i]!) + TOLERANCE_RAD;
    return (rad >= low && rad <= high) || this.#fails(i, 'be at', rad, rad < low ? low : high, 'rad');
  }

  #isSlow(i: number, rad: number, sinceS: number): boolean {
    const limit = this.#limits.velocityRadS[i]!;
    const movedRad = Math.abs(rad - this.#seen[i]!);
    if (movedRad <= ROUNDING * limit * sinceS + 2 * TOLERANCE_RAD) return true;
    return this.#fails(i, 'move at', movedRad / sinceS, limit, 'rad/s');
  }

  #isSmooth(i: number, rad: number): boolean {
    const w = this.#weights;
    const first = this.#kept[0][i]! - rad;
    const second = this.#kept[1][i]! - rad;
    const acceleration = Math.abs(w[0]! * first + w[1]! * second);
    const maxA = this.#limits.accelerationRadS2[i]!;
    if (!(acceleration <= ROUNDING * maxA + w[5]! * TOLERANCE_RAD))
      return this.#fails(i, 'accelerate at', acceleration, maxA, 'rad/s²');
    const jerk = Math.abs(w[2]! * first + w[3]! * second + w[4]! * (this.#kept[2][i]! - rad));
    const maxJ = this.#limits.jerkRadS3[i]!;
    if (jerk <= ROUNDING * maxJ + w[6]! * TOLERANCE_RAD) return true;
    return this.#fails(i, 'jerk at', jerk, maxJ, 'rad/s³');
  }

  /** Weights for differences from the new target, so that its own weight drops out. */
  #weigh(nowNs: number): void {
    const w = this.#weights;
    const a = (nowNs - this.#keptNs[0]!) / 1e9;
    const b = (nowNs - this.#keptNs[1]!) / 1e9;
    const c = (nowNs - this.#keptNs[2]!) / 1e9;
    w[0] = -2 / (a * (b - a));
    w[1] = 2 / (b * (b - a));
    w[2] = -6 / (a * (b - a) * (c - a));
    w[3] = 6 / (b * (b - a) * (c - b));
    w[4] = -6 / (c * (c - a) * (c - b));
    w[5] = 2 / (a * b) - w[0]! + w[1]!;
    w[6] = 6 / (a * b * c) - w[2]! + w[3]! - w[4]!;
  }

  #fails(i: number, does: string, value: number, limit: number, unit: string): false {
    this.#breach = `limit check: joint "${this.#names[i]}" would ${does} ${value.toPrecision(4)} ${unit}, limit ${limit.toPrecision(4)}`;
    return false;
  }

  #keep(nowNs: number, targetRad: Float64Array): void {
    const oldest = this.#kept[2];
    oldest.set(targetRad);
    this.#kept[2] = this.#kept[1];
    this.#kept[1] = this.#kept[0];
    this.#kept[0] = oldest;
    this.#keptNs.copyWithin(1, 0, 2);
    this.#keptNs[0] = nowNs;
  }
}
