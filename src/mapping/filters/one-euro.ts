import { NS_PER_S } from '../../core/time/clock.ts';
import { quatConjugate, quatMultiply, rotvecFromQuat } from '../../geometry/frames.ts';
import { blendQuat, blendVector } from './blend.ts';
import type { HandPose, PoseFilter } from './filter.ts';

/** Cutoff of the speed estimate, as in the paper. */
const SPEED_CUTOFF_HZ = 1;
/** Keeps speeds finite. */
const SHORTEST_STEP_NS = 1;

/**
 * One-Euro filter (Casiez, Roussel, Vogel 2012): a low pass whose cutoff is `minCutoffHz` for a still hand and grows
 * by `beta` Hz per m/s of its speed, or for the orientation per rad/s of its angular speed.
 * Current delay: 1 / (2π cutoff), the larger of the two.
 */
export class OneEuro implements PoseFilter {
  readonly #minCutoffHz: number;
  readonly #beta: number;
  /** The newest sample, the result, and the smoothed speed of each. */
  readonly #place = { raw: new Float64Array(3), out: new Float64Array(3), speed: new Float64Array(3) };
  readonly #turn = { raw: new Float64Array(4), out: new Float64Array(4), speed: new Float64Array(3) };
  readonly #velocity = new Float64Array(3);
  readonly #step = new Float64Array(4);
  #takenNs = 0;
  #placeDelayNs = 0;
  #turnDelayNs = 0;

  constructor(minCutoffHz: number, beta: number) {
    this.#minCutoffHz = minCutoffHz;
    this.#beta = beta;
  }

  get delayNs(): number {
    return Math.max(this.#placeDelayNs, this.#turnDelayNs);
  }

  reset(pose: HandPose): void {
    this.#place.raw.set(pose.positionM);
    this.#place.out.set(pose.positionM);
    this.#place.speed.fill(0);
    this.#turn.raw.set(pose.quatXyzw);
    this.#turn.out.set(pose.quatXyzw);
    this.#turn.speed.fill(0);
    this.#takenNs = pose.takenNs;
    this.#placeDelayNs = 0;
    this.#turnDelayNs = 0;
  }

  apply(pose: HandPose): void {
    const dtNs = pose.takenNs - this.#takenNs;
    if (dtNs >= SHORTEST_STEP_NS) {
      this.#takenNs = pose.takenNs;
      this.#stepPlace(pose.positionM, dtNs);
      this.#stepTurn(pose.quatXyzw, dtNs);
    }
    pose.positionM.set(this.#place.out);
    pose.quatXyzw.set(this.#turn.out);
  }

  #stepPlace(positionM: Float64Array, dtNs: number): void {
    const { raw, out, speed } = this.#place;
    for (let i = 0; i < 3; i++) this.#velocity[i] = ((positionM[i]! - raw[i]!) / dtNs) * NS_PER_S;
    raw.set(positionM);
    const weight = this.#weight(speed, dtNs / NS_PER_S);
    blendVector(out, positionM, weight);
    this.#placeDelayNs = (1 - weight) * (this.#placeDelayNs + dtNs);
  }

  #stepTurn(quatXyzw: Float64Array, dtNs: number): void {
    const { raw, out, speed } = this.#turn;
    quatConjugate(raw, this.#step);
    quatMultiply(quatXyzw, this.#step, this.#step);
    rotvecFromQuat(this.#step, this.#velocity);
    for (let i = 0; i < 3; i++) this.#velocity[i] = (this.#velocity[i]! / dtNs) * NS_PER_S;
    raw.set(quatXyzw);
    const weight = this.#weight(speed, dtNs / NS_PER_S);
    blendQuat(out, quatXyzw, weight);
    this.#turnDelayNs = (1 - weight) * (this.#turnDelayNs + dtNs);
  }

  /** Smooths the speed with `#velocity`; returns the weight of the newest sample at the resulting cutoff. */
  #weight(speed: Float64Array, dtS: number): number {
    blendVector(speed, this.#velocity, lowPassWeight(SPEED_CUTOFF_HZ, dtS));
    const size = Math.sqrt(speed[0]! * speed[0]! + speed[1]! * speed[1]! + speed[2]! * speed[2]!);
    return lowPassWeight(this.#minCutoffHz + this.#beta * size, dtS);
  }
}

/** Weight of the newest sample in a first-order low pass. */
export function lowPassWeight(cutoffHz: number, dtS: number): number {
  const turns = 2 * Math.PI * cutoffHz * dtS;
  return turns / (turns + 1);
}
