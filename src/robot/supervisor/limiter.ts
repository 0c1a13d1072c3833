import type { RobotModel } from '../../core/robot-model.ts';

/** Longest time a single step may make up for: after a gap the arm catches up at limited speed, not in one jump. */
const MAX_STEP_S = 0.05;

/**
 * Leads the driver's target to the goal inside joint range and velocity limits, and brings it to rest inside
 * the acceleration limit. Plain state, no clock of its own.
 */
export class TargetLimiter {
  readonly targetRad: Float64Array;
  readonly goalRad: Float64Array;
  readonly #model: RobotModel;
  readonly #speed: number;
  readonly #velocities: Float64Array;
  #atNs = 0;

  /** `speedFraction` lowers the model's velocity ceilings. */
  constructor(model: RobotModel, speedFraction: number) {
    this.#model = model;
    this.#speed = speedFraction;
    this.targetRad = Float64Array.from(model.homeRad);
    this.goalRad = this.targetRad.slice();
    this.#velocities = new Float64Array(model.joints.length);
  }

  /** Takes the measured pose as target and goal, at rest. */
  restart(measuredRad: Float64Array, nowNs: number): void {
    this.targetRad.set(measuredRad);
    this.goalRad.set(measuredRad);
    this.#velocities.fill(0);
    this.#atNs = nowNs;
  }

  /** Sets a new goal; true when a joint had to be clamped into its range. */
  aim(goalRad: Float64Array): boolean {
    let clamped = false;
    for (let i = 0; i < goalRad.length; i++) {
      const { minRad, maxRad } = this.#model.joints[i]!;
      const wanted = goalRad[i]!;
      const allowed = Math.max(minRad, Math.min(maxRad, wanted));
      this.goalRad[i] = allowed;
      clamped ||= allowed !== wanted;
    }
    return clamped;
  }

  /** Moves the target towards the goal; true while velocity limits keep it from arriving. */
  follow(nowNs: number): boolean {
    const dtS = this.#elapsedS(nowNs);
    let limited = false;
    for (let i = 0; i < this.targetRad.length; i++) {
      const maxStep = this.#model.joints[i]!.maxVelocityRadS * this.#speed * dtS;
      const gap = this.goalRad[i]! - this.targetRad[i]!;
      const step = Math.max(-maxStep, Math.min(maxStep, gap));
      limited ||= step !== gap;
      this.targetRad[i] = this.targetRad[i]! + step;
      if (dtS > 0) this.#velocities[i] = step / dtS;
    }
    return limited;
  }

  /** Slows the target to rest at the acceleration limit; true while it still moves. One that stood still stays. */
  settle(nowNs: number): boolean {
    if (nowNs - this.#atNs > MAX_STEP_S * 1e9) this.#velocities.fill(0);
    const dtS = this.#elapsedS(nowNs);
    let moving = false;
    for (let i = 0; i < this.targetRad.length; i++) {
      const { maxAccelerationRadS2, minRad, maxRad } = this.#model.joints[i]!;
      const velocity = this.#velocities[i]!;
      const slowed = Math.sign(velocity) * Math.max(0, Math.abs(velocity) - maxAccelerationRadS2 * dtS);
      const target = this.targetRad[i]!;
      // A joint found outside its range is brought in by `follow`, not by a jump to the limit.
      const low = Math.min(minRad, target);
      const high = Math.max(maxRad, target);
      this.targetRad[i] = Math.max(low, Math.min(high, target + slowed * dtS));
      this.#velocities[i] = slowed;
      moving ||= slowed !== 0;
    }
    this.goalRad.set(this.targetRad);
    return moving;
  }

  #elapsedS(nowNs: number): number {
    const dtS = Math.max(0, Math.min(MAX_STEP_S, (nowNs - this.#atNs) / 1e9));
    this.#atNs = nowNs;
    return dtS;
  }
}
