import { wrapRad } from '../geometry/frames.ts';
import type { MarkedMove } from './disturbed-moves.ts';
import { OPEN_M } from './gripper-body.ts';
import type { Move, WorldView } from './task.ts';

/** Approach: speed falls with the distance left, and no faster than this brakes. */
const PER_S = 5;
const BRAKE_M_S2 = 1.2;
const ACCELERATION_M_S2 = 2.5;
const MAX_TURN_RAD_S = 2;
const TURN_PER_S = 5;
/** The hand itself must be this near, and the gripper within the move's tolerance, before the next move. */
const HAND_NEAR_M = 0.002;
/** Wider than what a camera shows exactly: who waits for less than he sees may wait for ever. */
const YAW_NEAR_RAD = 0.12;
const ON_THE_WAY_RAD = 0.2;
/** Tolerance of a move is for the end of a task; on the way a hand is less exact. */
const ON_THE_WAY_M = 0.012;
const FINE_M = 0.005;
/** Fingers close and open this fast: an error in time then costs little. */
const FINGERS_M_S = 0.2;
/** The gripper has closed on something, or is open. */
const STILL_M_S = 0.004;
const MIN_GRIP_S = 0.12;
/** A move that does not arrive is ended: the task's expert looks again. */
const GIVE_UP_S = 4;

/**
 * Carries out an expert's moves by what is seen instead of by time: each goes on as soon as the gripper has arrived. What
 * it does next follows from where things are, which is what a policy can learn.
 */
export class EagerHand {
  readonly pointM = new Float64Array(3);
  yawRad: number;
  openM = OPEN_M;
  isDone = false;
  /** The present move is a mistake made on purpose. */
  isMistake = false;
  readonly #moves: Iterator<MarkedMove, void, void>;
  readonly #view: WorldView;
  #move: Move | null = null;
  #atS = 0;
  #speedMS = 0;
  #openingM = 0;
  #goalOpenM = OPEN_M;

  constructor(
    moves: Iterator<MarkedMove, void, void>,
    pointM: ArrayLike<number>,
    yawRad: number,
    view: WorldView,
  ) {
    this.#moves = moves;
    this.#view = view;
    this.pointM.set([pointM[0]!, pointM[1]!, pointM[2]!]);
    this.yawRad = yawRad;
  }

  tick(dtS: number): void {
    if (this.isDone || dtS <= 0) return;
    if (this.#move === null) this.#next();
    this.#atS += dtS;
    const most = FINGERS_M_S * dtS;
    this.openM += Math.max(-most, Math.min(most, this.#goalOpenM - this.openM));
    const move = this.#move;
    if (move === null) return;
    if (this.#isOver(move, dtS) || this.#atS > GIVE_UP_S) this.#next();
  }

  #isOver(move: Move, dtS: number): boolean {
    if (move.kind === 'go') return this.#go(move, dtS);
    return move.kind === 'grip' ? this.#grip(move, dtS) : this.#atS > move.waitS;
  }

  #next(): void {
    const { value, done } = this.#moves.next();
    this.#atS = 0;
    this.#move = done === true || value === undefined ? null : value.move;
    this.isMistake = value?.isMistake ?? false;
    if (this.#move === null) this.isDone = true;
    else if (this.#move.kind === 'grip') this.#goalOpenM = this.#move.openM;
  }

  #go(move: Extract<Move, { kind: 'go' }>, dtS: number): boolean {
    const { pointM } = this;
    const goal = [move.xM, move.yM, move.zM];
    const leftM = Math.hypot(...goal.map((value, k) => value - pointM[k]!));
    const wantedMS = Math.min(move.speedMS, PER_S * leftM, Math.sqrt(2 * BRAKE_M_S2 * leftM));
    this.#speedMS = Math.min(wantedMS, this.#speedMS + ACCELERATION_M_S2 * dtS);
    const share = leftM < 1e-6 ? 1 : Math.min(1, (this.#speedMS * dtS) / leftM);
    for (let k = 0; k < 3; k++) pointM[k]! += share * (goal[k]! - pointM[k]!);
    const turnRad = move.yawRad - this.yawRad;
    const most = Math.min(MAX_TURN_RAD_S, TURN_PER_S * Math.abs(turnRad)) * dtS;
    this.yawRad += Math.max(-most, Math.min(most, turnRad));
    return this.#hasArrived(move, goal);
  }

  #hasArrived(move: Extract<Move, { kind: 'go' }>, goal: readonly number[]): boolean {
    const { gripM, gripYawRad } = this.#view;
    const offM = Math.hypot(...goal.map((value, k) => value - gripM[k]!));
    const handM = Math.hypot(...goal.map((value, k) => value - this.pointM[k]!));
    const isFine = move.restS > 0;
    return (
      handM < (isFine ? HAND_NEAR_M : ON_THE_WAY_M) &&
      offM < (isFine ? FINE_M : ON_THE_WAY_M) &&
      Math.abs(wrapRad(move.yawRad - gripYawRad)) < (isFine ? YAW_NEAR_RAD : ON_THE_WAY_RAD)
    );
  }

  /** Until the fingers have been told all, and the pads stand still. */
  #grip({ waitS }: Extract<Move, { kind: 'grip' }>, dtS: number): boolean {
    const { openingM } = this.#view;
    const isStill = Math.abs(openingM - this.#openingM) < STILL_M_S * dtS;
    this.#openingM = openingM;
    if (waitS === 0) return true;
    return this.openM === this.#goalOpenM && this.#atS > MIN_GRIP_S && isStill;
  }
}
