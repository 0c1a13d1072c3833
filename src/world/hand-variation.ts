import { Random } from '../core/random.ts';

/** How long a deviation lasts, and how slowly it begins: a hand has mass. */
const LASTING_S = 0.35;
const SMOOTH_S = 0.12;
/** What smoothing takes from the spread. */
const SPREAD_LOSS = Math.sqrt(LASTING_S / (LASTING_S + SMOOTH_S));
/** Spread of the hand away from the table and near it: a person is careful there. */
const FREE_M = 0.0025;
const NEAR_M = 0.001;
const FREE_RAD = 0.02;
const NEAR_RAD = 0.008;
/** Height of the pads below which the hand is careful; above twice this it is free. */
const NEAR_HEIGHT_M = 0.05;
const SPEED_SPREAD = 0.1;

/** How one person's hand differs from an exact one: a wobble without jumps, and a pace. The same for the same seed. */
export class HandVariation {
  readonly offsetM = new Float64Array(3);
  turnRad = 0;
  /** Pace, around 1. */
  readonly speed: number;
  readonly #share: number;
  readonly #random: Random;
  /** Wobble of position, then turn, before and after smoothing; spread 1. */
  readonly #rough = new Float64Array(4);
  readonly #wobble = new Float64Array(4);

  constructor(seed: number, share: number) {
    this.#share = share;
    this.#random = new Random(seed, 'hand-variation');
    this.speed = 1 + share * this.#random.between([-SPEED_SPREAD, SPEED_SPREAD]);
  }

  /** Hot path. */
  tick(dtS: number, heightM: number): void {
    if (this.#share === 0) return;
    const keep = Math.exp(-dtS / LASTING_S);
    const fresh = Math.sqrt(1 - keep * keep);
    const near = 1 - Math.exp(-dtS / SMOOTH_S);
    for (let k = 0; k < 4; k++) {
      this.#rough[k] = keep * this.#rough[k]! + fresh * this.#random.normal();
      this.#wobble[k]! += near * (this.#rough[k]! / SPREAD_LOSS - this.#wobble[k]!);
    }
    const free = Math.min(1, Math.max(0, heightM / NEAR_HEIGHT_M - 1));
    const spreadM = this.#share * (NEAR_M + free * (FREE_M - NEAR_M));
    for (let k = 0; k < 3; k++) this.offsetM[k] = spreadM * this.#wobble[k]!;
    this.turnRad = this.#share * (NEAR_RAD + free * (FREE_RAD - NEAR_RAD)) * this.#wobble[3]!;
  }
}
