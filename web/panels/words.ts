import type { SupervisorState } from '../../src/messages/robot-state.ts';

/** What to do about a state, after its cause. */
export const STATE_WORDS: Record<SupervisorState, string> = {
  disconnected: 'No robot on the link.',
  idle: 'Arm to begin.',
  armed: 'Engage to move.',
  engaged: '',
  hold: 'Engage again to go on.',
  stopped: 'Latched; reset to go on.',
};

const INPUT_LABELS: Record<string, string> = {
  scripted: 'Scripted',
  page: 'Keyboard',
  openteach: 'OpenTeach',
  rctp: 'RCTP',
  webxr: 'WebXR',
};

const INPUT_HINTS: Record<string, string> = {
  scripted: 'A made-up hand draws a figure eight, rolls its wrist and works the gripper.',
  openteach: 'A hand that the headset sees drives, unless the app is paused.',
  rctp: 'A headset that sends RCTP drives as long as it sees the hand; there is no clutch.',
  webxr: 'Open this console in the headset’s browser and enter VR there.',
};

/** The page as an input, in its forms: they work side by side, one is told about. */
export const PAGE_METHODS = {
  keyboard: {
    label: 'Keyboard',
    hint: 'Hold Shift or tap Engage, then drag the pad or use WASD, QE, arrows. R/F roll, G gripper.',
  },
  drag: {
    label: 'Drag hand',
    hint: 'Drag the orange hand in the view: the arm follows as long as you hold it.',
  },
  gamepad: {
    label: 'Gamepad',
    hint: 'Hold a shoulder button to engage. Left stick: sideways, far/near; right: up/down, roll. B stops.',
  },
} as const;
export type PageMethod = keyof typeof PAGE_METHODS;

export function inputLabel(name: string): string {
  return INPUT_LABELS[name] ?? sentence(name);
}

export function inputHint(name: string): string {
  return INPUT_HINTS[name] ?? '';
}

/** `tracking-lost` → `Tracking lost`; prose keeps its hyphens. */
export function sentence(text: string): string {
  const words = text.includes(' ') ? text.trim() : text.replaceAll('-', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The cause as given, made a sentence, then what it means. */
export function causeText(state: SupervisorState, cause: string): string {
  const given = sentence(cause);
  return given === '' ? STATE_WORDS[state] : `${given}. ${STATE_WORDS[state]}`.trim();
}

/** `upper_arm ↔ base` as words. */
export const partNames = (pair: string): string => pair.replaceAll('_', ' ');

/** What holds the arm back: `Limited by collision: forearm ↔ base, 32 mm`. */
export function limitText(robot: { limitedBy: string; clearanceM: number | null; nearest: string }): string {
  const { limitedBy, clearanceM, nearest } = robot;
  if (limitedBy === '') return '';
  const text = `Limited by ${limitedBy.replaceAll('-', ' ')}`;
  if (limitedBy !== 'collision' || clearanceM === null) return text;
  return `${text}: ${partNames(nearest)}, ${Math.round(clearanceM * 1000)} mm`;
}

/** Fixed number of decimals, with a true minus sign; a dash when there is none. */
export function milliseconds(value: number | null | undefined, decimals = 1): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '—';
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}
