import { NS_PER_S } from '../../core/time/clock.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { PALM, spanM } from '../../hand/points.ts';

/** As the filter of the points: cutoff at rest, growth beyond the dead zone, and the speed's own cutoff. */
const REST_HZ = 0.4;
const HZ_PER_RAD_S = 15;
const DEAD_RAD_S = 0.9;
const SPEED_HZ = 1;
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
  /** Filtered angle and its speed. */
  readonly #state = new Float64Array(2);
  #takenNs = Number.NaN;
  #fresh = true;

  constructor(model: RobotModel, settings: WristSettings) {
    this.#joint = settings.enableWrist ? model.joints.findIndex(({ name }) => name === 'wrist') : -1;
    this.#settings = settings;
    this.#gain = settings.gain['wrist'] ?? 1;
    this.#biasRad = settings.biasRad['wrist'] ?? 0;
  }

  reset(): void {
    this.#fresh = true;
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
    const angle = Math.asin(Math.min(1, Math.max(-1, down / spanM(pointsM, PALM.wrist, PALM.middle))));
    const passedS = (takenNs - this.#takenNs) / NS_PER_S;
    this.#takenNs = takenNs;
    if (!filter || this.#fresh || passedS < 0 || passedS > GAP_S) {
      this.#state[0] = angle;
      this.#state[1] = 0;
      this.#fresh = false;
    } else if (passedS !== 0) this.#filter(angle, Number.isNaN(passedS) ? USUAL_PERIOD_S : passedS);
    outRad[this.#joint] = this.#state[0]! * this.#gain + this.#biasRad;
  }

  #filter(angle: number, dtS: number): void {
    const state = this.#state;
    const share = 1 / (1 + 1 / (2 * Math.PI * SPEED_HZ * dtS));
    state[1]! += share * ((angle - state[0]!) / dtS - state[1]!);
    const cutoffHz = REST_HZ + HZ_PER_RAD_S * Math.max(0, Math.abs(state[1]!) - DEAD_RAD_S);
    state[0]! += (angle - state[0]!) / (1 + 1 / (2 * Math.PI * cutoffHz * dtS));
  }
}
