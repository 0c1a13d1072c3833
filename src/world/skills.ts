import type { Move, WorldView } from './task.ts';

const QUARTER = Math.PI / 2;
const PICK_TRIES = 4;
/** Closed this far, there is nothing between the pads. */
const EMPTY_M = 0.008;
/** The wrist turns no further from its zero than this. */
const MAX_YAW_RAD = 0.94;
/** Opening with which the expert approaches and leaves. */
export const WIDE_M = 0.07;
/** Height at which it carries things. */
export const HIGH_M = 0.11;

/** Yaw of a square thing that is nearest to the present one, by any quarter turn. */
export function nearestYaw(yawRad: number, presentRad: number): number {
  let yaw = yawRad + Math.round((presentRad - yawRad) / QUARTER) * QUARTER;
  if (yaw > MAX_YAW_RAD) yaw -= QUARTER;
  if (yaw < -MAX_YAW_RAD) yaw += QUARTER;
  return yaw;
}

export const go = (
  [xM, yM, zM]: readonly [number, number, number],
  yawRad: number,
  speedMS: number,
  restS = 0,
  toleranceM = 0.006,
): Move => ({ kind: 'go', xM, yM, zM, yawRad, speedMS, restS, toleranceM });
export const grip = (openM: number, waitS: number): Move => ({ kind: 'grip', openM, waitS });

/** Yaw of the gripper after the moves so far; experts keep it to take the shorter turn. */
export interface Hand {
  yawRad: number;
}

/** Takes a thing at a height `zM` and lifts it to `highM`. */
export function* pick(
  view: WorldView,
  hand: Hand,
  body: string,
  zM: number,
  highM: number,
): Generator<Move, void, void> {
  for (let tries = 0; tries < PICK_TRIES; tries++) {
    const { xM, yM, yawRad } = view.see(body);
    hand.yawRad = nearestYaw(yawRad, hand.yawRad);
    yield grip(WIDE_M, 0);
    yield go([xM, yM, highM], hand.yawRad, 0.5);
    yield go([xM, yM, zM], hand.yawRad, 0.25, 0.1, 0.005);
    yield grip(0, 0.35);
    yield go([xM, yM, highM], hand.yawRad, 0.4, 0, 0.01);
    const seen = view.see(body);
    if (
      Math.hypot(seen.xM - view.gripM[0]!, seen.yM - view.gripM[1]!) < MAX_OFFSET_M &&
      view.openingM > EMPTY_M
    )
      return;
  }
}

export interface Goal {
  xM: number;
  yM: number;
  zM: number;
  yawRad: number;
  highM: number;
  /** On the last stretch. */
  speedMS?: number;
  toleranceM?: number;
}

/** Sets down what it holds so that the thing, not the gripper, comes to the goal. */
export function* place(view: WorldView, hand: Hand, held: string, goal: Goal): Generator<Move, void, void> {
  const { xM, yM, zM, highM, speedMS = 0.2, toleranceM = 0.006 } = goal;
  hand.yawRad = nearestYaw(goal.yawRad, hand.yawRad);
  yield go([xM, yM, highM], hand.yawRad, 0.5, 0.2, toleranceM);
  // What was seen in the hand while carrying it, after the turn.
  const [dx, dy] = heldOffset(view, held);
  const [x, y] = [xM - dx, yM - dy];
  yield go([x, y, zM], hand.yawRad, speedMS, 0.12, toleranceM);
  yield grip(WIDE_M, 0.25);
  yield go([x, y, highM], hand.yawRad, 0.4, 0, 0.01);
}

/** Where a held thing is, from the middle of the pads; 0 for one that is not between them. */
export function heldOffset(view: WorldView, held: string): [number, number] {
  const seen = view.see(held);
  return [clamp(seen.xM - view.gripM[0]!), clamp(seen.yM - view.gripM[1]!)];
}

/** A thing further from the middle of the pads than this is not held. */
const MAX_OFFSET_M = 0.01;
const clamp = (offsetM: number): number => (Math.abs(offsetM) < MAX_OFFSET_M ? offsetM : 0);
