import { NS_PER_S } from '../../core/time/clock.ts';
import { lowPassWeight } from './one-euro.ts';

const SPEED_CUTOFF_HZ = 1;
/** Slower than this, joints count as still: the steps of an encoder. */
const STILL_RAD_S = 0.05;
const MIN_CUTOFF_HZ = 4;
const HZ_PER_RAD_S = 60;
const HELD_S = 0.5;

/**
 * The filter `steady` for joint angles, such as a leader arm's: encoder steps at rest would look like accelerations
 * that no arm can follow. Hot path: nothing allocates.
 */
export class JointSteady {
  readonly #raw: Float64Array;
  readonly #first: Float64Array;
  readonly #second: Float64Array;
  readonly #speed: Float64Array;
  #held = 0;
  #takenNs = 0;
  #delayNs = 0;

  constructor(joints: number) {
    this.#raw = new Float64Array(joints);
    this.#first = new Float64Array(joints);
    this.#second = new Float64Array(joints);
    this.#speed = new Float64Array(joints);
  }

  /** Current lag behind joints in steady motion. */
  get delayNs(): number {
    return 2 * this.#delayNs;
  }

  reset(angles: ArrayLike<number>, takenNs: number): void {
    for (let i = 0; i < this.#raw.length; i++) this.#raw[i] = this.#first[i] = this.#second[i] = angles[i]!;
    this.#speed.fill(0);
    this.#held = this.#delayNs = 0;
    this.#takenNs = takenNs;
  }

  /** Filters in place. */
  apply(anglesRad: Float64Array, takenNs: number): void {
    const dtNs = takenNs - this.#takenNs;
    if (dtNs > 0) this.#step(anglesRad, dtNs);
    anglesRad.set(this.#second);
  }

  #step(anglesRad: Float64Array, dtNs: number): void {
    const dtS = dtNs / NS_PER_S;
    const share = lowPassWeight(SPEED_CUTOFF_HZ, dtS);
    let square = 0;
    for (let i = 0; i < this.#raw.length; i++) {
      this.#speed[i]! += share * ((anglesRad[i]! - this.#raw[i]!) / dtS - this.#speed[i]!);
      square += this.#speed[i]! * this.#speed[i]!;
      this.#raw[i] = anglesRad[i]!;
    }
    this.#held = Math.max(Math.sqrt(square), this.#held * Math.exp(-dtS / HELD_S));
    const weight = lowPassWeight(MIN_CUTOFF_HZ + HZ_PER_RAD_S * Math.max(0, this.#held - STILL_RAD_S), dtS);
    for (let i = 0; i < this.#raw.length; i++) {
      this.#first[i]! += weight * (anglesRad[i]! - this.#first[i]!);
      this.#second[i]! += weight * (this.#first[i]! - this.#second[i]!);
    }
    this.#delayNs = (1 - weight) * (this.#delayNs + dtNs);
    this.#takenNs += dtNs;
  }
}
