/** The page's simulated hand: input frame (right-handed, Y up, −Z forward), metres, quaternion x y z w. */
export interface PageHand {
  positionM: [number, number, number];
  /** Target set by pointer and keys; the position follows at limited speed. */
  targetM: [number, number, number];
  quatXyzw: [number, number, number, number];
  /** Turn by a device with rotations, before the roll of the keys. */
  turnXyzw: [number, number, number, number];
  rollRad: number;
  gripper: number;
  gripperTarget: 0 | 1;
}

/** Half the side of the box that contains the hand. */
export const BOX_M = 0.4;
const KEY_SPEED_M_S = 0.25;
const POINTER_SPEED_M_S = 0.5;
const ROLL_SPEED_RAD_S = 0.8;
const GRIPPER_SPEED_PER_S = 2.5;
/** A longer step means that the page was suspended: the hand must not jump. */
const MAX_STEP_S = 0.05;

export function restingHand(): PageHand {
  return {
    positionM: [0, 0, 0],
    targetM: [0, 0, 0],
    quatXyzw: [0, 0, 0, 1],
    turnXyzw: [0, 0, 0, 1],
    rollRad: 0,
    gripper: 0,
    gripperTarget: 0,
  };
}

/** Axis and sign of each driving key, by physical key. */
const MOVES: Record<string, readonly [axis: 0 | 1 | 2, sign: 1 | -1]> = {
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
const ROLLS: Record<string, 1 | -1> = { KeyR: 1, KeyF: -1 };

export function isDriveKey(code: string): boolean {
  return code in MOVES || code in ROLLS;
}

/** Moves the hand one step for the keys held down. */
export function stepHand(hand: PageHand, held: ReadonlySet<string>, elapsedS: number): void {
  const dtS = Math.min(MAX_STEP_S, Math.max(0, elapsedS));
  moveTarget(hand, keyDirection(held), KEY_SPEED_M_S * dtS);
  followTarget(hand, POINTER_SPEED_M_S * dtS);
  let roll = 0;
  for (const code of held) roll += ROLLS[code] ?? 0;
  hand.rollRad += Math.sign(roll) * ROLL_SPEED_RAD_S * dtS;
  const [x, y, z, w] = hand.turnXyzw;
  const [rz, rw] = [Math.sin(-hand.rollRad / 2), Math.cos(hand.rollRad / 2)];
  hand.quatXyzw = [x * rw + y * rz, y * rw - x * rz, z * rw + w * rz, w * rw - z * rz];
  const step = GRIPPER_SPEED_PER_S * dtS;
  hand.gripper += Math.max(-step, Math.min(step, hand.gripperTarget - hand.gripper));
}

function keyDirection(held: ReadonlySet<string>): [number, number, number] {
  const direction: [number, number, number] = [0, 0, 0];
  for (const code of held) {
    const move = MOVES[code];
    if (move) direction[move[0]] += move[1];
  }
  const length = Math.hypot(...direction);
  return length === 0 ? direction : [direction[0] / length, direction[1] / length, direction[2] / length];
}

/** Moves the target by `direction` × `amountM`, limited to the box. */
export function moveTarget(hand: PageHand, direction: readonly number[], amountM: number): void {
  for (const axis of [0, 1, 2] as const) {
    const moved = hand.targetM[axis] + (direction[axis] ?? 0) * amountM;
    hand.targetM[axis] = Math.min(BOX_M, Math.max(-BOX_M, moved));
  }
}

function followTarget(hand: PageHand, maxM: number): void {
  const gap = hand.targetM.map((target, axis) => target - hand.positionM[axis]!);
  const distance = Math.hypot(...gap);
  const part = distance <= maxM ? 1 : maxM / distance;
  for (const axis of [0, 1, 2] as const) hand.positionM[axis] += gap[axis]! * part;
}
