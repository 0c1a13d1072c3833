/** Controller errors of the xArm, as text for the operator. */
const ERRORS: Readonly<Record<number, string>> = {
  1: 'e-stop button of the control box',
  2: 'e-stop input of the control box',
  3: 'e-stop of the three-state switch',
  10: 'servo motor error',
  18: 'force sensor does not reply',
  19: 'tool does not reply',
  21: 'kinematic error',
  22: 'self-collision',
  23: 'joint angle limit exceeded',
  24: 'speed limit exceeded',
  25: 'planning error',
  26: 'control box missed its period',
  27: 'control box did not reply to a command',
  28: 'end module does not reply',
  30: 'measured speed limit exceeded',
  31: 'collision: abnormal current',
  33: 'control box I/O error',
  35: 'safety boundary',
  37: 'abnormal motion in manual mode',
  38: 'abnormal joint angle',
  39: 'power board error',
  53: 'force sensor overloaded',
  60: 'linear speed limit exceeded in servo mode',
  110: 'base board does not reply',
};

const WARNINGS: Readonly<Record<number, string>> = {
  11: 'command buffer full',
  12: 'invalid parameter',
  13: 'unknown command',
  14: 'no solution',
};

export function xarmError(code: number): string {
  if (code >= 11 && code <= 17) return `servo motor ${code - 10} error (code ${code})`;
  return `${ERRORS[code] ?? 'controller error'} (code ${code})`;
}

export const xarmWarning = (code: number): string => `${WARNINGS[code] ?? 'warning'} (warning ${code})`;
