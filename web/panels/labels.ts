import type { LimitedBy, SupervisorState } from '../../src/messages/robot-state.ts';

/** What to do next in each state; shown after the cause. */
const STATE_ADVICE: Record<SupervisorState, string> = {
  disconnected: 'No robot on the link.',
  idle: 'Arm to begin.',
  armed: 'Engage to move.',
  engaged: '',
  hold: 'Engage to continue.',
  stopped: 'Reset to continue.',
};
/** To an operator these say no more than the advice: the clutch was let go, or never closed. */
const OPEN_CLUTCH = new Set(['tracking lost', 'clutch released']);

const INPUT_LABELS: Record<string, string> = {
  scripted: 'Scripted',
  expert: 'Expert',
  page: 'Keyboard',
  openteach: 'OpenTeach',
  rctp: 'RCTP',
  webxr: 'WebXR',
  joints: 'Replay, policy',
};

const INPUT_HINTS: Record<string, string> = {
  expert: 'Does the task by itself. Choose another input to take over.',
  scripted: 'A simulated hand draws a figure eight, rolls its wrist, and opens and closes the gripper.',
  openteach: 'The robot follows the hand that the headset tracks, unless the app is paused.',
  rctp: 'The robot follows while the headset tracks the hand. RCTP has no clutch.',
  leader: 'The robot follows the leader arm, joint by joint. Press Enter in its terminal.',
  webxr: 'Open this console in the headset’s browser, then enter VR.',
  joints: 'Joint angles from a recording or a policy. Choose another input to drive yourself.',
};

const GAMEPAD_HINT =
  'Hold a shoulder button to engage. Left stick: left/right, forward/back. Right stick: up/down, turn. Right trigger: gripper. B: e-stop.';

/** The three ways to drive from this page. All work at the same time; the panel explains one. */
export const PAGE_METHODS = {
  keyboard: {
    label: 'Keyboard',
    touchLabel: 'Touch pads',
    hint: 'Hold Shift, then use WASD, QE or the arrow keys. R/F: turn. G: gripper.',
    touchHint:
      'Drag a finger on the pad: the arm follows while you touch it. The bar moves it forward and back.',
  },
  drag: {
    label: 'Drag hand',
    touchLabel: 'Drag hand',
    hint: 'Drag the orange hand in the view. The arm follows until you release it.',
    touchHint: 'Drag the orange hand in the view. The arm follows until you let go.',
  },
  gamepad: {
    label: 'Gamepad',
    touchLabel: 'Gamepad',
    hint: GAMEPAD_HINT,
    touchHint: GAMEPAD_HINT,
  },
} as const;
export type PageMethod = keyof typeof PAGE_METHODS;

export function inputLabel(name: string): string {
  return INPUT_LABELS[name] ?? sentence(name);
}

export function inputHint(name: string): string {
  return INPUT_HINTS[name] ?? '';
}

/** `tracking-lost` → `Tracking lost`. Text with spaces keeps its hyphens. */
export function sentence(text: string): string {
  const words = text.includes(' ') ? text.trim() : text.replaceAll('-', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Who reads the cause. */
export interface CauseReader {
  input: string;
  /** The input sends nothing. */
  isSilent: boolean;
  isTouch: boolean;
  /** Why a closed clutch does not count; empty: it does, or is open. */
  clutchAdvice: string;
  /** Somebody else drives, or nobody may: advice would be of no use. */
  isWatching: boolean;
}

/** The cause as a sentence, then what to do next. */
export function causeText(state: SupervisorState, cause: string, reader: CauseReader): string {
  const waits = state === 'armed' || state === 'hold';
  const reopen = reader.clutchAdvice === '' ? '' : `${sentence(reader.clutchAdvice)}.`;
  const hand = reopen || (waits ? handAdvice(reader) : '');
  const given = hand !== '' && OPEN_CLUTCH.has(cause) ? '' : sentence(cause);
  const advice = reader.isWatching ? '' : hand || STATE_ADVICE[state];
  if (given === '') return advice || (reader.isWatching && waits ? 'Waiting for the driver.' : '');
  return `${given}. ${advice}`.trim();
}

/** How the input in use is engaged; empty: with the button. */
function handAdvice({ input, isSilent, isTouch }: CauseReader): string {
  if (input === 'joints' && isSilent) return 'No replay or policy is running. Choose an input.';
  if (input !== 'page') return '';
  return isTouch ? 'Drag a finger on the pad.' : 'Hold Shift, or drag the pad or the hand.';
}

/** `upper_arm ↔ base` → `upper arm ↔ base`. */
export const partNames = (pair: string): string => pair.replaceAll('_', ' ');

/** The limits that a person can do something about; the others only smooth the motion. */
const LIMITS: Partial<Record<LimitedBy, string>> = {
  velocity: 'the arm’s speed',
  range: 'the joint range',
  'joint-limit': 'a joint’s range',
  singularity: 'a singular pose',
  backlog: 'a long backlog: shortest path to the hand',
  reach: 'the arm’s reach',
  workspace: 'the workspace',
  collision: 'contact',
};

/** `Limited by contact below: forearm ↔ base, 32 mm`. Empty when nothing limits the motion that a person could change. */
export function limitText(
  robot: { limitedBy: LimitedBy; clearanceM: number | null; nearest: string },
  towards?: readonly number[] | null,
): string {
  const { limitedBy, clearanceM, nearest } = robot;
  const limit = LIMITS[limitedBy];
  if (limit === undefined) return '';
  const where = towards ? ` ${directionWord(towards)}` : '';
  const text = `Limited by ${limit}${where}`;
  if (limitedBy !== 'collision' || clearanceM === null) return text;
  return `${text}: ${partNames(nearest)}, ${Math.round(clearanceM * 1000)} mm`;
}

/** Base frame, seen from behind the robot: x ahead, y left, z up. */
function directionWord([x = 0, y = 0, z = 0]: readonly number[]): string {
  const [ax, ay, az] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (az >= ax && az >= ay) return z > 0 ? 'above' : 'below';
  if (ax >= ay) return x > 0 ? 'ahead' : 'behind';
  return y > 0 ? 'on the left' : 'on the right';
}

/** Fixed decimals with a typographic minus; a dash for a missing value. */
export function milliseconds(value: number | null | undefined, decimals = 1): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '—';
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}
