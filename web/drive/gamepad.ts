import { moveTarget, type PageHand, stepS, turnHand } from '../../src/desk/page-hand.ts';

const DEAD_ZONE = 0.15;
const SPEED_M_S = 0.3;
const TURN_RAD_S = 1.5;

/** Buttons of the standard layout. */
const BUTTONS = {
  estop: 1,
  handBack: 2,
  record: 3,
  leftShoulder: 4,
  rightShoulder: 5,
  tilt: 6,
  grip: 7,
} as const;
/** The cross: right for the usual case, left to throw away. */
const CROSS = [
  [15, 'start-or-keep'],
  [13, 'failure'],
  [14, 'discard'],
  [12, 'redo'],
] as const;
export type RecordAct = (typeof CROSS)[number][1];

export interface GamepadState {
  /** A shoulder button is held. */
  clutch: boolean;
  estop: boolean;
  /** Held upper button, which starts and stops a recording. */
  record: boolean;
  /** Held left button, which hands back to a policy. */
  handBack: boolean;
  /** Held direction of the cross: what to do with the recording; null: none. */
  recordAct: RecordAct | null;
}

/** The first standard gamepad. Browsers report one only after a button press. */
export const gamepad = (): Gamepad | null =>
  navigator.getGamepads?.().find((pad) => pad?.connected && pad.mapping === 'standard') ?? null;

/**
 * Moves the hand one step. Left stick: left/right, forward/back. Right stick: turn, up/down; with the left trigger held,
 * roll and tilt.
 */
export function stepByGamepad(pad: Gamepad, hand: PageHand, elapsedS: number): GamepadState {
  const dtS = stepS(elapsedS);
  const [x, z, turn, y] = [0, 1, 2, 3].map((i) => fine(pad.axes[i] ?? 0)) as [number, number, number, number];
  const tilts = (pad.buttons[BUTTONS.tilt]?.value ?? 0) > 0.5;
  moveTarget(hand, [x, tilts ? 0 : -y, z], SPEED_M_S * dtS);
  turnHand(hand, tilts ? [-y, 0, -turn] : [0, -turn, 0], TURN_RAD_S * dtS);
  const grip = pad.buttons[BUTTONS.grip]?.value ?? 0;
  if (grip > 0.05 || pad.buttons[BUTTONS.grip]?.touched) hand.gripperTarget = grip > 0.5 ? 1 : 0;
  const isDown = (button: number) => pad.buttons[button]?.pressed === true;
  return {
    clutch: isDown(BUTTONS.leftShoulder) || isDown(BUTTONS.rightShoulder),
    estop: isDown(BUTTONS.estop),
    record: isDown(BUTTONS.record),
    handBack: isDown(BUTTONS.handBack),
    recordAct: CROSS.find(([button]) => isDown(button))?.[1] ?? null,
  };
}

/** No motion in the middle, fine steps near it, full speed at the end. */
function fine(value: number): number {
  const size = Math.abs(value);
  return size < DEAD_ZONE ? 0 : Math.sign(value) * ((size - DEAD_ZONE) / (1 - DEAD_ZONE)) ** 1.5;
}
