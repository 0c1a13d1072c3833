import type { JointLimits } from './limits.ts';
import { STEP_S } from './path-runner.ts';

/**
 * Bounds the jerk: a moving average of the raw positions, and a cubic B-spline through those. Averaging over n steps
 * turns accelerations up to a into jerks up to 2a / (n · step), and keeps the limits of velocity and acceleration; one
 * length for all joints keeps the path. Any time can be evaluated, so limits hold between writes at any spacing.
 * Plain state; nothing allocates.
 */
export class Smoother {
  /** Time from a raw position to its effect. */
  readonly delayS: number;
  /** How much of the present step has passed: a field, for the reason that `DrawnPath.u` gives. */
  share = 0;
  readonly #joints: number;
  readonly #length: number;
  readonly #raw: Float64Array;
  readonly #sum: Float64Array;
  /** The last four averages, oldest first. */
  readonly #points: Float64Array;
  #at = 0;
  #steps = 0;
  /** Steps since the raw position last changed. */
  #still = 0;

  constructor({ accelerationRadS2, jerkRadS3 }: JointLimits) {
    this.#joints = accelerationRadS2.length;
    let longestS = STEP_S;
    for (let i = 0; i < this.#joints; i++)
      longestS = Math.max(longestS, (2 * accelerationRadS2[i]!) / jerkRadS3[i]!);
    this.#length = Math.ceil(longestS / STEP_S - 1e-9);
    this.delayS = ((this.#length - 1) / 2 + 2) * STEP_S;
    this.#raw = new Float64Array(this.#length * this.#joints);
    this.#sum = new Float64Array(this.#joints);
    this.#points = new Float64Array(4 * this.#joints);
  }

  /** At rest in a pose. */
  restart(poseRad: Float64Array): void {
    for (let n = 0; n < this.#length; n++) this.#raw.set(poseRad, n * this.#joints);
    for (let n = 0; n < 4; n++) this.#points.set(poseRad, n * this.#joints);
    this.#total();
    this.#at = 0;
    this.#steps = 0;
    this.#still = this.#length;
  }

  /** Summing up anew keeps rounding errors from adding up. */
  #total(): void {
    this.#sum.fill(0);
    for (let n = 0; n < this.#raw.length; n++) this.#sum[n % this.#joints]! += this.#raw[n]!;
  }

  /** Takes the next raw position. */
  push(rawRad: Float64Array): void {
    const at = this.#at * this.#joints;
    const last = ((this.#at + this.#length - 1) % this.#length) * this.#joints;
    this.#points.copyWithin(0, this.#joints);
    this.#still++;
    for (let i = 0; i < this.#joints; i++) {
      if (rawRad[i] !== this.#raw[last + i]) this.#still = 1;
      this.#sum[i]! += rawRad[i]! - this.#raw[at + i]!;
      this.#raw[at + i] = rawRad[i]!;
    }
    this.#at = (this.#at + 1) % this.#length;
    if (++this.#steps % 1024 === 0) this.#total();
    // A mean of equal numbers is rounded; at rest it must not be.
    const isStill = this.#still >= this.#length;
    for (let i = 0; i < this.#joints; i++)
      this.#points[3 * this.#joints + i] = isStill ? rawRad[i]! : this.#sum[i]! / this.#length;
  }

  /** Positions, velocities and accelerations at `share`, into one array. */
  look(motion: Float64Array): void {
    const { share } = this;
    const joints = this.#joints;
    const p = this.#points;
    for (let i = 0; i < joints; i++) {
      const a = p[i]!;
      const b = p[joints + i]!;
      const c = p[2 * joints + i]!;
      const d = p[3 * joints + i]!;
      // Written as b plus differences, so that a resting joint is exactly at rest.
      const start = (a - 2 * b + c) / 6;
      const slope = (c - a) / 2;
      const bend = (a - 2 * b + c) / 2;
      const twist = (d - c - 2 * (c - b) + (b - a)) / 6;
      motion[i] = b + start + share * (slope + share * (bend + share * twist));
      motion[joints + i] = (slope + share * (2 * bend + share * 3 * twist)) / STEP_S;
      motion[2 * joints + i] = (2 * bend + share * 6 * twist) / (STEP_S * STEP_S);
    }
  }
}
