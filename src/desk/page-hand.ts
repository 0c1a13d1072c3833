import { quatMultiply, quatNormalise } from '../geometry/frames.ts';

/** The page's simulated hand: input frame (right-handed, Y up, −Z forward), metres, quaternion x y z w. */
export interface PageHand {
  positionM: [number, number, number];
  /** Target set by pointer and keys; the position follows at limited speed. */
  targetM: [number, number, number];
  quatXyzw: Float64Array;
  gripper: number;
  gripperTarget: 0 | 1;
  moving: Held;
  turning: Held;
}

/** Half the side of the box that contains the hand. */
export const BOX_M = 0.4;
/** A key begins slowly, so that a tap is a small step, and becomes faster while it is held. */
const MOVE: Ramp = { first: 0.05, perS: 0.6, most: 0.3 };
const TURN: Ramp = { first: 0.3, perS: 2.5, most: 1.5 };
const POINTER_SPEED_M_S = 0.5;
const GRIPPER_SPEED_PER_S = 2.5;
/** A longer step means that the page was suspended: the hand must not jump. */
export const MAX_STEP_S = 0.05;

interface Ramp {
  first: number;
  perS: number;
  most: number;
}

/** How long keys have been held in about one direction. */
interface Held {
  forS: number;
  direction: readonly number[];
}

type Axis = 0 | 1 | 2;

export function restingHand(): PageHand {
  return {
    positionM: [0, 0, 0],
    targetM: [0, 0, 0],
    quatXyzw: Float64Array.of(0, 0, 0, 1),
    gripper: 0,
    gripperTarget: 0,
    moving: { forS: 0, direction: [0, 0, 0] },
    turning: { forS: 0, direction: [0, 0, 0] },
  };
}

/** Axis and sign of each driving key, by physical key. */
const MOVES: Record<string, readonly [axis: Axis, sign: 1 | -1]> = {
  KeyA: [0, -1],
  KeyD: [0, 1],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  KeyQ: [1, -1],
  KeyE: [1, 1],
  ArrowDown: [1, -1],
  ArrowUp: [1, 1],
  KeyW: [2, -1],
  KeyS: [2, 1],
};
/** About the axes of the input frame: turn (about the vertical), roll, tilt. */
const TURNS: Record<string, readonly [axis: Axis, sign: 1 | -1]> = {
  KeyR: [1, 1],
  KeyF: [1, -1],
  KeyU: [2, 1],
  KeyJ: [2, -1],
  KeyI: [0, 1],
  KeyK: [0, -1],
};

export function isDriveKey(code: string): boolean {
  return code in MOVES || code in TURNS;
}

/** Moves the hand one step for the keys held down. */
export function stepHand(hand: PageHand, held: ReadonlySet<string>, elapsedS: number): void {
  const dtS = stepS(elapsedS);
  const move = direction(MOVES, held);
  moveTarget(hand, move, rampStep(MOVE, hand.moving, move, dtS));
  followTarget(hand, POINTER_SPEED_M_S * dtS);
  const turn = direction(TURNS, held);
  turnHand(hand, turn, rampStep(TURN, hand.turning, turn, dtS));
  const step = GRIPPER_SPEED_PER_S * dtS;
  hand.gripper += Math.max(-step, Math.min(step, hand.gripperTarget - hand.gripper));
}

export const stepS = (elapsedS: number): number => Math.min(MAX_STEP_S, Math.max(0, elapsedS));

/** How long to hold a key for a distance, or an angle. */
export const holdForM = (distanceM: number): number => holdS(MOVE, distanceM);
export const holdForRad = (angleRad: number): number => holdS(TURN, angleRad);

/**
 * The hand stays where it is. Called when the clutch closes: otherwise the rest of an earlier motion would move the robot
 * without anybody pressing a key.
 */
export function stopHand(hand: PageHand): void {
  for (const axis of [0, 1, 2] as const) hand.targetM[axis] = hand.positionM[axis];
  hand.moving.forS = 0;
  hand.turning.forS = 0;
}

/** Back to the middle of its box. Only with an open clutch: motion counts from where the clutch closes. */
export function centreHand(hand: PageHand): void {
  hand.positionM.fill(0);
  hand.quatXyzw.set([0, 0, 0, 1]);
  stopHand(hand);
}

/** It moves no further in some direction. */
export const isAtEdge = ({ targetM }: PageHand): boolean => targetM.some((m) => Math.abs(m) >= BOX_M);

/** It moves no further in the direction of this driving key. */
export function isBlocked({ targetM }: PageHand, code: string): boolean {
  const move = MOVES[code];
  return move !== undefined && move[1] * targetM[move[0]] >= BOX_M;
}

/** Moves the target by `direction` × `amountM`, limited to the box. */
export function moveTarget(hand: PageHand, direction: readonly number[], amountM: number): void {
  for (const axis of [0, 1, 2] as const) {
    const moved = hand.targetM[axis] + (direction[axis] ?? 0) * amountM;
    hand.targetM[axis] = Math.min(BOX_M, Math.max(-BOX_M, moved));
  }
}

/** Turns by `axes` × `amountRad`, about the axes of the input frame. */
export function turnHand(hand: PageHand, axes: readonly number[], amountRad: number): void {
  const size = Math.hypot(...axes);
  if (size === 0 || amountRad === 0) return;
  const half = (size * amountRad) / 2;
  const part = Math.sin(half) / size;
  const turn = Float64Array.of(axes[0]! * part, axes[1]! * part, axes[2]! * part, Math.cos(half));
  quatMultiply(turn, hand.quatXyzw, hand.quatXyzw);
  quatNormalise(hand.quatXyzw, hand.quatXyzw);
}

function direction(keys: typeof MOVES, held: ReadonlySet<string>): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  for (const code of held) {
    const move = keys[code];
    if (move) sum[move[0]] += move[1];
  }
  const length = Math.hypot(...sum);
  return length === 0 ? sum : [sum[0] / length, sum[1] / length, sum[2] / length];
}

/** What the keys add in the next `dtS`. Another direction begins slowly again. */
function rampStep(ramp: Ramp, held: Held, direction: readonly number[], dtS: number): number {
  const goesOn = direction.some((part, i) => part * held.direction[i]! > 0);
  if (!goesOn) held.forS = 0;
  held.direction = direction;
  const speed = Math.min(ramp.most, ramp.first + ramp.perS * held.forS);
  held.forS += dtS;
  return speed * dtS;
}

function holdS({ first, perS, most }: Ramp, distance: number): number {
  const rampS = (most - first) / perS;
  const rampDistance = ((first + most) / 2) * rampS;
  if (distance > rampDistance) return rampS + (distance - rampDistance) / most;
  return (Math.sqrt(first * first + 2 * perS * distance) - first) / perS;
}

function followTarget(hand: PageHand, maxM: number): void {
  const gap = hand.targetM.map((target, axis) => target - hand.positionM[axis]!);
  const distance = Math.hypot(...gap);
  const part = distance <= maxM ? 1 : maxM / distance;
  for (const axis of [0, 1, 2] as const) hand.positionM[axis] += gap[axis]! * part;
}
