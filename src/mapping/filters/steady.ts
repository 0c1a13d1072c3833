import { NS_PER_S } from '../../core/time/clock.ts';
import { quatConjugate, quatMultiply, rotvecFromQuat } from '../../geometry/frames.ts';
import { blendQuat, blendVector } from './blend.ts';
import type { HandPose, PoseFilter } from './filter.ts';
import { lowPassWeight } from './one-euro.ts';

const SPEED_CUTOFF_HZ = 1;
/** Slower than this, the hand counts as still: tremor and noise of the tracking. */
const STILL_M_S = 0.02;
/** A hand that turns round is not still: its speed is remembered this long. */
const HELD_S = 0.5;
const PLACE = { minHz: 2.5, perSpeed: 300 };
const TURN = { minHz: 1.5, perSpeed: 8 };
const SHORTEST_STEP_NS = 1;

/**
 * Holds a still hand still and lets a moving one through: two equal low passes in series whose cutoff grows with the
 * hand's speed, and one for the orientation. Two, because the corners that one leaves would cost the arm its speed.
 * Delay at 0.05, 0.1 and 0.3 m/s: 22, 11 and 4 ms.
 */
export class Steady implements PoseFilter {
  readonly #raw = new Float64Array(3);
  readonly #first = new Float64Array(3);
  readonly #second = new Float64Array(3);
  readonly #speed = new Float64Array(3);
  readonly #rawTurn = new Float64Array(4);
  readonly #turn = new Float64Array(4);
  readonly #turnSpeed = new Float64Array(3);
  readonly #velocity = new Float64Array(3);
  readonly #step = new Float64Array(4);
  #held = 0;
  #takenNs = 0;
  #firstNs = 0;
  #secondNs = 0;
  #turnNs = 0;

  get delayNs(): number {
    return Math.max(this.#firstNs + this.#secondNs, this.#turnNs);
  }

  reset(pose: HandPose): void {
    for (const place of [this.#raw, this.#first, this.#second]) place.set(pose.positionM);
    for (const turn of [this.#rawTurn, this.#turn]) turn.set(pose.quatXyzw);
    this.#speed.fill(0);
    this.#held = 0;
    this.#turnSpeed.fill(0);
    this.#takenNs = pose.takenNs;
    this.#firstNs = this.#secondNs = this.#turnNs = 0;
  }

  apply(pose: HandPose): void {
    const dtNs = pose.takenNs - this.#takenNs;
    if (dtNs >= SHORTEST_STEP_NS) {
      this.#takenNs = pose.takenNs;
      this.#stepPlace(pose.positionM, dtNs);
      this.#stepTurn(pose.quatXyzw, dtNs);
    }
    pose.positionM.set(this.#second);
    pose.quatXyzw.set(this.#turn);
  }

  #stepPlace(positionM: Float64Array, dtNs: number): void {
    for (let i = 0; i < 3; i++) this.#velocity[i] = ((positionM[i]! - this.#raw[i]!) / dtNs) * NS_PER_S;
    this.#raw.set(positionM);
    const dtS = dtNs / NS_PER_S;
    blendVector(this.#speed, this.#velocity, lowPassWeight(SPEED_CUTOFF_HZ, dtS));
    this.#held = Math.max(norm(this.#speed), this.#held * Math.exp(-dtS / HELD_S));
    const fast = Math.max(0, this.#held - STILL_M_S);
    const weight = lowPassWeight(PLACE.minHz + PLACE.perSpeed * fast, dtS);
    blendVector(this.#first, positionM, weight);
    blendVector(this.#second, this.#first, weight);
    this.#firstNs = (1 - weight) * (this.#firstNs + dtNs);
    this.#secondNs = (1 - weight) * (this.#secondNs + dtNs);
  }

  #stepTurn(quatXyzw: Float64Array, dtNs: number): void {
    quatConjugate(this.#rawTurn, this.#step);
    quatMultiply(quatXyzw, this.#step, this.#step);
    rotvecFromQuat(this.#step, this.#velocity);
    for (let i = 0; i < 3; i++) this.#velocity[i] = (this.#velocity[i]! / dtNs) * NS_PER_S;
    this.#rawTurn.set(quatXyzw);
    const dtS = dtNs / NS_PER_S;
    blendVector(this.#turnSpeed, this.#velocity, lowPassWeight(SPEED_CUTOFF_HZ, dtS));
    const weight = lowPassWeight(TURN.minHz + TURN.perSpeed * norm(this.#turnSpeed), dtS);
    blendQuat(this.#turn, quatXyzw, weight);
    this.#turnNs = (1 - weight) * (this.#turnNs + dtNs);
  }
}

const norm = (v: Float64Array): number => Math.sqrt(v[0]! * v[0]! + v[1]! * v[1]! + v[2]! * v[2]!);
