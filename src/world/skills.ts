import type { Move, WorldView } from './task.ts';

const QUARTER = Math.PI / 2;
const PICK_TRIES = 6;
/** Closed this far, there is nothing between the pads. */
export const EMPTY_M = 0.008;
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

/**
 * Takes a thing at a height `zM` and lifts it to `highM`. What it does follows from what is seen: it can begin anyhow.
 * `comesLow`: nothing high stands in the way, so it turns at one low point above the thing, wherever it comes from. From
 * among the things it rises first: on its way it would push them.
 */
export function* pick(
  view: WorldView,
  hand: Hand,
  body: string,
  zM: number,
  highM: number,
  comesLow = false,
): Generator<Move, void, void> {
  for (let tries = 0; tries < PICK_TRIES; tries++) {
    yield grip(WIDE_M, 0);
    const { xM, yM, yawRad } = view.see(body);
    if (comesLow && view.gripM[2]! < CLEAR_M)
      yield go([view.gripM[0]!, view.gripM[1]!, RISEN_M], view.gripYawRad, 0.4);
    hand.yawRad = nearestYaw(yawRad, view.gripYawRad);
    yield go([xM, yM, comesLow ? zM + HOVER_M : hoverM(view, xM, yM, highM)], hand.yawRad, 0.5);
    yield go([xM, yM, zM], hand.yawRad, 0.25, 0.1, 0.005);
    yield grip(0, 0.35);
    if (isTurned(view, body)) yield grip(WIDE_M, 0.25);
    if (!isHeld(view, body) || isTurned(view, body)) continue;
    yield go([xM, yM, highM], hand.yawRad, 0.4, 0, 0.01);
    if (isHeld(view, body)) return;
  }
}

/** Where it stands if that is above the thing already; else `highM`. */
function hoverM({ gripM }: WorldView, xM: number, yM: number, highM: number): number {
  const isAbove = Math.hypot(gripM[0]! - xM, gripM[1]! - yM) < ABOVE_M && gripM[2]! > CLEAR_M;
  return isAbove ? Math.min(highM, gripM[2]!) : highM;
}

function isHeld(view: WorldView, body: string): boolean {
  const { xM, yM, zM } = view.see(body);
  const [x, y, z] = [view.gripM[0]!, view.gripM[1]!, view.gripM[2]!];
  const isBetween = Math.hypot(xM - x, yM - y) < MAX_OFFSET_M && Math.abs(zM - z) < MAX_HEIGHT_M;
  return isBetween && view.openingM > EMPTY_M && view.openingM < OPENED_M;
}

/** The pads hold it by two of its edges: it would slip or turn. */
function isTurned(view: WorldView, body: string): boolean {
  const turnRad = (view.see(body).yawRad - view.gripYawRad) / QUARTER;
  return Math.abs(turnRad - Math.round(turnRad)) * QUARTER > MAX_TURN_RAD;
}

/** Lets go of what it holds above a goal, so high that neither it nor the fingers touch what lies there already. */
export function* drop(
  view: WorldView,
  hand: Hand,
  held: string,
  goal: Omit<Goal, 'highM'>,
): Generator<Move, void, void> {
  hand.yawRad = nearestYaw(goal.yawRad, view.gripYawRad);
  const [dx, dy] = heldOffset(view, held);
  yield go([goal.xM - dx, goal.yM - dy, goal.zM], hand.yawRad, 0.5, 0.1);
  yield grip(WIDE_M, 0.25);
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
  hand.yawRad = nearestYaw(goal.yawRad, view.gripYawRad);
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
const MAX_HEIGHT_M = 0.03;
const MAX_TURN_RAD = 0.25;
/** Wider than the diagonal of a cube: nothing is held. */
const OPENED_M = 0.9 * WIDE_M;
/** So high above where a thing is taken, the gripper turns without touching it or its neighbours. */
const HOVER_M = 0.07;
/** Within this of a thing and this high, it turns where it is. */
const ABOVE_M = 0.03;
const CLEAR_M = 0.066;
/** As high as it rises from among things before it moves on, which begins up to a centimetre below. */
const RISEN_M = 0.08;
const clamp = (offsetM: number): number => (Math.abs(offsetM) < MAX_OFFSET_M ? offsetM : 0);
