import { NS_PER_S } from '../../core/time/clock.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { PALM, spanM } from '../../hand/points.ts';
import { SteadyFilter } from './steady-filter.ts';

/** Noise of the angle in radians, relative to that of a fingertip in metres. */
const NOISE_RAD_PER_M = 8;
const USUAL_PERIOD_S = 1 / 72;
const GAP_S = 0.25;

export interface WristSettings {
  enableWrist: boolean;
  filter: boolean;
  gravity: readonly number[];
  gain: Record<string, number>;
  biasRad: Record<string, number>;
}

/** The wrist of a robot hand: the angle of the person's palm to gravity, fingers down positive. Hot path. */
export class WristAngle {
  readonly #joint: number;
  readonly #settings: WristSettings;
  readonly #gain: number;
  readonly #biasRad: number;
  readonly #steady = new SteadyFilter(1, 1, NOISE_RAD_PER_M);
  readonly #angleRad = new Float64Array(1);
  readonly #dtS = new Float64Array(1);
  #takenNs = Number.NaN;

  constructor(model: RobotModel, settings: WristSettings) {
    this.#joint = settings.enableWrist ? model.joints.findIndex(({ name }) => name === 'wrist') : -1;
    this.#settings = settings;
    this.#gain = settings.gain['wrist'] ?? 1;
    this.#biasRad = settings.biasRad['wrist'] ?? 0;
  }

  reset(): void {
    this.#steady.reset();
  }

  /** Fills the wrist in `outRad`; leaves it if the hand has none, or if it stays neutral. */
  map(pointsM: Float64Array, takenNs: number, outRad: Float64Array): void {
    if (this.#joint < 0) return;
    const { gravity, filter } = this.#settings;
    const at = 3 * PALM.middle;
    const down =
      (pointsM[at]! - pointsM[0]!) * gravity[0]! +
      (pointsM[at + 1]! - pointsM[1]!) * gravity[1]! +
      (pointsM[at + 2]! - pointsM[2]!) * gravity[2]!;
    const passedS = (takenNs - this.#takenNs) / NS_PER_S;
    this.#takenNs = takenNs;
    if (filter && passedS === 0 && !this.#steady.fresh) this.#angleRad[0] = this.#steady.at[0]!;
    else {
      const sine = down / spanM(pointsM, PALM.wrist, PALM.middle);
      this.#angleRad[0] = Math.asin(Math.min(1, Math.max(-1, sine)));
      if (passedS < 0 || passedS > GAP_S) this.#steady.reset();
      this.#dtS[0] = Number.isNaN(passedS) ? USUAL_PERIOD_S : passedS;
      if (filter) {
        this.#steady.judge(this.#angleRad, 0, this.#dtS);
        this.#steady.apply(this.#angleRad, 0, this.#dtS);
      }
    }
    outRad[this.#joint] = this.#angleRad[0]! * this.#gain + this.#biasRad;
  }
}
