import { MAX_TICKS, RAD_PER_TICK, RAD_S_PER_VELOCITY_UNIT } from '../../buses/dynamixel/control-table.ts';
import type { MotorRange } from './calibration-file.ts';
import type { Hand } from './hands.ts';

const TURN_RAD = 2 * Math.PI;
/** How far a joint may be beyond its calibrated range: stops give, tendons stretch. */
const BEYOND_RAD = Math.PI / 4;
const rad = (deg: number): number => (deg * Math.PI) / 180;

/**
 * Joint angles ↔ motor ticks. Within a calibrated range a motor angle grows (or, inverted, falls) linearly
 * with the joint's. A motor that lost power restarts its turn count: `rewrap` finds the offset in turns. Hot
 * path except `rewrap`.
 */
export class JointMap {
  readonly #hand: Hand;
  readonly #lowRad: Float64Array;
  readonly #highRad: Float64Array;
  readonly #minRad: Float64Array;
  readonly #maxRad: Float64Array;
  /** Motor radians per joint radian, negative where inverted. */
  readonly #gain: Float64Array;
  readonly #wrapRad: Float64Array;

  constructor(hand: Hand, ranges: readonly MotorRange[]) {
    const { joints } = hand;
    this.#hand = hand;
    this.#lowRad = Float64Array.from(ranges, ({ lowRad }) => lowRad);
    this.#highRad = Float64Array.from(ranges, ({ highRad }) => highRad);
    this.#minRad = Float64Array.from(joints, ({ minDeg }) => rad(minDeg));
    this.#maxRad = Float64Array.from(joints, ({ maxDeg }) => rad(maxDeg));
    this.#gain = Float64Array.from(joints, ({ inverted, minDeg, maxDeg }, i) => {
      const gain = (this.#highRad[i]! - this.#lowRad[i]!) / rad(maxDeg - minDeg);
      return inverted ? -gain : gain;
    });
    this.#wrapRad = new Float64Array(joints.length);
  }

  /** Clamped to the joint's range; truncated to whole ticks, as the vendor's library does. */
  ticksOf(i: number, jointRad: number): number {
    const inRange = Math.max(this.#minRad[i]!, Math.min(this.#maxRad[i]!, jointRad));
    const fromRad = this.#gain[i]! < 0 ? this.#maxRad[i]! : this.#minRad[i]!;
    const motorRad = this.#lowRad[i]! + (inRange - fromRad) * this.#gain[i]! + this.#wrapRad[i]!;
    return Math.max(-MAX_TICKS, Math.min(MAX_TICKS, Math.trunc(motorRad / RAD_PER_TICK)));
  }

  /** Not clamped: a joint may be beyond its range. */
  jointRad(i: number, ticks: number): number {
    const fromRad = this.#gain[i]! < 0 ? this.#maxRad[i]! : this.#minRad[i]!;
    return fromRad + (ticks * RAD_PER_TICK - this.#lowRad[i]! - this.#wrapRad[i]!) / this.#gain[i]!;
  }

  /** Joint torque by the motor's present current, without the tendons' friction. */
  jointNm(i: number, currentUnits: number): number {
    return currentUnits * this.#hand.joints[i]!.motor.nmPerUnit * this.#gain[i]!;
  }

  jointRadS(i: number, velocityUnits: number): number {
    return (velocityUnits * RAD_S_PER_VELOCITY_UNIT) / this.#gain[i]!;
  }

  /**
   * Determines each motor's turn offset from measured ticks. Returns the joints that are out of range as
   * text, and then changes nothing; empty on success.
   */
  rewrap(ticks: ArrayLike<number>): string {
    const found = this.#hand.joints.map((_, i) => this.#wrapOf(i, ticks[i]! * RAD_PER_TICK));
    const lost = this.#hand.joints.filter((_, i) => found[i] === null).map(({ name }) => name);
    if (lost.length > 0) return `${lost.join(', ')}: outside the calibrated range`;
    this.#wrapRad.set(found as number[]);
    return '';
  }

  #wrapOf(i: number, measuredRad: number): number | null {
    const lowRad = this.#lowRad[i]! - BEYOND_RAD;
    const highRad = this.#highRad[i]! + BEYOND_RAD;
    const wrapRad = measuredRad < lowRad ? -TURN_RAD : measuredRad > highRad ? TURN_RAD : 0;
    const unwrapped = measuredRad - wrapRad;
    return unwrapped >= lowRad && unwrapped <= highRad ? wrapRad : null;
  }
}
