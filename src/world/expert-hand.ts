import { wrapRad } from '../geometry/frames.ts';
import { OPEN_M } from './gripper-body.ts';
import type { Move, WorldView } from './task.ts';

/** No move is shorter than this. */
const MIN_MOVE_S = 0.15;
/** Peak over mean speed of a minimum-jerk move. */
const PEAK = 1.875;
const MAX_TURN_RAD_S = 2.5;
/** Time for an arm to arrive where the hand is, over any link. */
export const FOLLOWING_S = 0.4;

/** Carries out an expert's moves in time: where the point between the pads should be. */
export class ExpertHand {
  readonly pointM = new Float64Array(3);
  yawRad = 0;
  tiltRad = 0;
  openM = OPEN_M;
  isDone = false;
  readonly #moves: Iterator<Move, void, void>;
  readonly #actual: WorldView | null;
  readonly #followingS: number;
  readonly #fromM = new Float64Array(3);
  readonly #toM = new Float64Array(3);
  #toYawRad = 0;
  #fromYawRad = 0;
  #fromTiltRad = 0;
  #toTiltRad = 0;
  #move: Move | null = null;
  /** Time into the present move, its moving part, and its whole length. */
  #atS = 0;
  #movingS = 0;
  #lengthS = 0;

  /**
   * With `actual`, each move starts by what is seen: the hand moves by the distance from the gripper to the goal, so
   * that an arm that did not follow exactly still arrives. Then each move rests until the arm has followed.
   */
  constructor(
    moves: Iterator<Move, void, void>,
    pointM: ArrayLike<number>,
    yawRad = 0,
    actual: WorldView | null = null,
    followingS = FOLLOWING_S,
  ) {
    this.#moves = moves;
    this.#actual = actual;
    this.#followingS = followingS;
    this.pointM.set([pointM[0]!, pointM[1]!, pointM[2]!]);
    this.yawRad = yawRad;
  }

  tick(dtS: number): void {
    this.#atS += dtS;
    while (!this.isDone && this.#atS >= this.#lengthS) {
      this.#finish();
      this.#begin();
    }
    if (this.#move?.kind === 'go') this.#along(this.#atS / this.#movingS);
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
    if (value.kind !== 'go') {
      if (value.kind === 'grip') this.openM = value.openM;
      this.#lengthS = value.waitS;
      return;
    }
    this.#fromM.set(this.pointM);
    this.#fromYawRad = this.yawRad;
    this.#fromTiltRad = this.tiltRad;
    this.#toTiltRad = value.tiltRad ?? 0;
    this.#aim(value);
    const farM = Math.hypot(...this.#toM.map((goal, i) => goal - this.#fromM[i]!));
    const turnRad = Math.max(
      Math.abs(this.#toYawRad - this.yawRad),
      Math.abs(this.#toTiltRad - this.tiltRad),
    );
    this.#movingS = Math.max(MIN_MOVE_S, (PEAK * farM) / value.speedMS, (PEAK * turnRad) / MAX_TURN_RAD_S);
    this.#lengthS = this.#movingS + value.restS + (this.#actual === null ? 0 : this.#followingS);
  }

  #aim({ xM, yM, zM, yawRad }: Extract<Move, { kind: 'go' }>): void {
    this.#toM.set([xM, yM, zM]);
    this.#toYawRad = yawRad;
    if (this.#actual === null) return;
    for (let k = 0; k < 3; k++) this.#toM[k]! += this.pointM[k]! - this.#actual.gripM[k]!;
    // The yaw of a tilted gripper is not seen.
    if (this.tiltRad === 0) this.#toYawRad = this.yawRad + wrapRad(yawRad - this.#actual.gripYawRad);
    else this.#toYawRad = this.yawRad;
  }

  #finish(): void {
    if (this.#move?.kind === 'go') this.#along(1);
  }

  #along(part: number): void {
    const u = Math.min(1, part);
    const share = u * u * u * (10 - 15 * u + 6 * u * u);
    const from = this.#fromM;
    for (let k = 0; k < 3; k++) this.pointM[k] = from[k]! + share * (this.#toM[k]! - from[k]!);
    this.yawRad = this.#fromYawRad + share * (this.#toYawRad - this.#fromYawRad);
    this.tiltRad = this.#fromTiltRad + share * (this.#toTiltRad - this.#fromTiltRad);
  }
}
