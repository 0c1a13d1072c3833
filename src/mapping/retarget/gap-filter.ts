/** Tracking index (acceleration against noise, per frame) at rest, and for each m/s. */
const REST_INDEX = 0.002;
const INDEX_PER_M_S = 4;
/** Velocity gain below which the predicted velocity fades: a gap that closes slows down and rests. */
const VELOCITY_FADE = 0.1;
const LEAST_GAIN = 0.04;

/**
 * Steadies the measured distances from thumb to fingertips: an α–β filter each, whose gain follows the speed of
 * the gap itself. A gap closes more slowly than the fingertips move, and noise of the palm does not change it, so it
 * can be steadied more than the points. After motion the gain falls as that of a running mean does. Hot path: nothing
 * allocates; one caller at a time.
 */
export class GapFilter {
  /** Filtered distances in metres. */
  readonly gapsM: Float64Array;
  readonly #perS: Float64Array;
  readonly #gains: Float64Array;

  constructor(count: number) {
    this.gapsM = new Float64Array(count);
    this.#perS = new Float64Array(count);
    this.#gains = new Float64Array(count);
  }

  /** The next distances start anew. */
  reset(): void {
    this.#gains.fill(0);
  }

  /** `measuredM` as in `gapsM`; `dtS`: time since the previous call, one number. */
  apply(measuredM: Float64Array, dtS: Float64Array): void {
    const dt = dtS[0]!;
    for (let i = 0; i < measuredM.length; i++) {
      const last = this.#gains[i]!;
      if (last === 0) {
        this.gapsM[i] = measuredM[i]!;
        this.#perS[i] = 0;
        this.#gains[i] = 1;
        continue;
      }
      const index = REST_INDEX + INDEX_PER_M_S * Math.abs(this.#perS[i]!);
      // Steady gains of a Kalman filter of this tracking index (Kalata 1984).
      const root = (4 + index - Math.sqrt(8 * index + index * index)) / 4;
      const velocityGain = 2 * (1 - root) * (1 - root);
      const gain = Math.max(LEAST_GAIN, 1 - root * root, last / (1 + last));
      const perS = (this.#perS[i]! * velocityGain) / (velocityGain + VELOCITY_FADE);
      const expectedM = this.gapsM[i]! + perS * dt;
      const offM = measuredM[i]! - expectedM;
      this.gapsM[i] = expectedM + gain * offM;
      this.#perS[i] = perS + (velocityGain * offM) / dt;
      this.#gains[i] = gain;
    }
  }
}
