import { NS_PER_MS } from '../../core/time/clock.ts';
import type { JointReading } from '../driver.ts';

/** A joint that stays within this distance for this long is at rest: it is slower than 0.2 rad/s. */
const STILL_RAD = 0.02;
const STILL_NS = 100 * NS_PER_MS;

/** Whether an arm is at rest, judged by its joint readings. Hot path: nothing allocates. */
export class Stillness {
  readonly #fromRad: Float64Array;
  #fromNs = Number.NaN;
  #readNs = Number.NaN;

  constructor(joints: number) {
    this.#fromRad = new Float64Array(joints);
  }

  /** Takes a good reading and when it was measured. */
  note({ robotNs: readNs, positionsRad }: Pick<JointReading, 'robotNs' | 'positionsRad'>): void {
    this.#readNs = readNs;
    for (let i = 0; i < positionsRad.length; i++)
      if (!(Math.abs(positionsRad[i]! - this.#fromRad[i]!) <= STILL_RAD) || Number.isNaN(this.#fromNs)) {
        this.#fromRad.set(positionsRad);
        this.#fromNs = readNs;
        return;
      }
  }

  get isStill(): boolean {
    return this.#readNs - this.#fromNs >= STILL_NS;
  }
}
