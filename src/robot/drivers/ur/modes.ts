/** Controller modes, numbered as in the RTDE guide, and what they mean for us. */

export const ROBOT_MODE = {
  confirmSafety: 1,
  booting: 2,
  powerOff: 3,
  powerOn: 4,
  idle: 5,
  backdrive: 6,
  running: 7,
} as const;

export const SAFETY_MODE = {
  normal: 1,
  reduced: 2,
  protectiveStop: 3,
  recovery: 4,
  safeguardStop: 5,
  systemEstop: 6,
  robotEstop: 7,
  violation: 8,
  fault: 9,
} as const;

export const RUNTIME_PLAYING = 2;

const ROBOT_MODE_NAMES: Readonly<Record<number, string>> = {
  [-1]: 'no controller',
  0: 'disconnected',
  1: 'confirm safety',
  2: 'booting',
  3: 'power off',
  4: 'power on',
  5: 'idle',
  6: 'backdrive',
  7: 'running',
  8: 'updating firmware',
};

const SAFETY_NAMES: Readonly<Record<number, string>> = {
  3: 'protective stop',
  4: 'recovery mode',
  5: 'safeguard stop',
  6: 'system e-stop',
  7: 'robot e-stop',
  8: 'safety violation',
  9: 'safety fault',
};

export const robotModeName = (mode: number): string => ROBOT_MODE_NAMES[mode] ?? `robot mode ${mode}`;

/** Why the safety system stopped the robot; empty while it may move. Unknown modes count as stopped. */
export function safetyCause(safetyMode: number): string {
  if (safetyMode === SAFETY_MODE.normal || safetyMode === SAFETY_MODE.reduced) return '';
  return SAFETY_NAMES[safetyMode] ?? `safety mode ${safetyMode}`;
}
