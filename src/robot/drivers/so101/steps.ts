import { RAD_PER_STEP } from '../../buses/feetech/sts3215.ts';
import type { MotorCalibration } from './calibration-file.ts';

/** Converts between a joint's angle and its servo's steps: zero is the middle of the calibrated range. */
export class JointSteps {
  readonly #middle: number;
  readonly #min: number;
  readonly #max: number;
  readonly #sign: number;

  constructor({ range_min, range_max, drive_mode }: MotorCalibration) {
    this.#middle = (range_min + range_max) / 2;
    this.#min = range_min;
    this.#max = range_max;
    this.#sign = drive_mode === 1 ? -1 : 1;
  }

  /** Hot path. */
  toRad(steps: number): number {
    return this.#sign * (steps - this.#middle) * RAD_PER_STEP;
  }

  /** Clamped to the calibrated range. Hot path. */
  toSteps(rad: number): number {
    const steps = Math.round(this.#middle + (this.#sign * rad) / RAD_PER_STEP);
    return Math.max(this.#min, Math.min(this.#max, steps));
  }

  get signedRadPerStep(): number {
    return this.#sign * RAD_PER_STEP;
  }

  /** Of the gripper: 1 at the lower end, closed. Hot path. */
  toClosed(steps: number): number {
    const open = Math.max(0, Math.min(1, (steps - this.#min) / (this.#max - this.#min)));
    return this.#sign === 1 ? 1 - open : open;
  }

  /** Hot path. */
  fromClosed(closed: number): number {
    const open = this.#sign === 1 ? 1 - closed : closed;
    return Math.round(this.#min + open * (this.#max - this.#min));
  }
}
