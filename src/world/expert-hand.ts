import { OPEN_M } from './gripper-body.ts';
import type { Move } from './task.ts';

/** No move is shorter than this. */
const MIN_MOVE_S = 0.15;
/** Peak over mean speed of a minimum-jerk move. */
const PEAK = 1.875;
const MAX_TURN_RAD_S = 2.5;

/** Carries out an expert's moves in time: where the point between the pads should be. */
export class ExpertHand {
  readonly pointM = new Float64Array(3);
  yawRad = 0;
  openM = OPEN_M;
  isDone = false;
  readonly #moves: Iterator<Move, void, void>;
  readonly #fromM = new Float64Array(3);
  #fromYawRad = 0;
  #move: Move | null = null;
  /** Time into the present move, its moving part, and its whole length. */
  #atS = 0;
  #movingS = 0;
  #lengthS = 0;

  constructor(moves: Iterator<Move, void, void>, pointM: ArrayLike<number>, yawRad = 0) {
    this.#moves = moves;
    this.pointM.set([pointM[0]!, pointM[1]!, pointM[2]!]);
    this.yawRad = yawRad;
  }

  tick(dtS: number): void {
    this.#atS += dtS;
    while (!this.isDone && this.#atS >= this.#lengthS) {
      this.#finish();
      this.#begin();
    }
    if (this.#move?.kind === 'go') this.#along(this.#move, this.#atS / this.#movingS);
  }

  #begin(): void {
    this.#atS -= this.#lengthS;
    const { value, done } = this.#moves.next();
    if (done === true || value === undefined) {
      this.isDone = true;
      this.#move = null;
      return;
    }
    this.#move = value;
    if (value.kind === 'grip') {
      this.openM = value.openM;
      this.#lengthS = value.waitS;
      return;
    }
    this.#fromM.set(this.pointM);
    this.#fromYawRad = this.yawRad;
    const [x, y, z] = this.pointM as unknown as [number, number, number];
    const farM = Math.hypot(value.xM - x, value.yM - y, value.zM - z);
    const turnRad = Math.abs(value.yawRad - this.yawRad);
    this.#movingS = Math.max(MIN_MOVE_S, (PEAK * farM) / value.speedMS, (PEAK * turnRad) / MAX_TURN_RAD_S);
    this.#lengthS = this.#movingS + value.restS;
  }

  #finish(): void {
    if (this.#move?.kind === 'go') this.#along(this.#move, 1);
  }

  #along({ xM, yM, zM, yawRad }: Extract<Move, { kind: 'go' }>, part: number): void {
    const u = Math.min(1, part);
    const share = u * u * u * (10 - 15 * u + 6 * u * u);
    const from = this.#fromM;
    this.pointM[0] = from[0]! + share * (xM - from[0]!);
    this.pointM[1] = from[1]! + share * (yM - from[1]!);
    this.pointM[2] = from[2]! + share * (zM - from[2]!);
    this.yawRad = this.#fromYawRad + share * (yawRad - this.#fromYawRad);
  }
}
