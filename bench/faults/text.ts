import { type Outcome, verdictOf } from './try-fault.ts';

/** The cells of a fault's row, for text and docs. */
export function cellsOf(outcome: Outcome): {
  state: string;
  rest: string;
  limits: string;
  lost: string;
  message: string;
} {
  const { measured } = outcome;
  if (measured === null) return { state: '–', rest: '–', limits: '–', lost: '–', message: '–' };
  const { states, end, restMs, shares, lost, message } = measured;
  const path = states.length === 0 || states.at(-1) !== end ? [...states, end] : states;
  const share = (value: number) => value.toFixed(2);
  return {
    state: path.join(' → '),
    rest: restMs === null ? '–' : `${Math.round(restMs)} ms`,
    limits: `${share(shares.velocity)} / ${share(shares.acceleration)} / ${share(shares.jerk)}`,
    lost: lost.text,
    message: message || '–',
  };
}

export function outcomeText(outcome: Outcome): string {
  const { name, what, complaints, notRun } = outcome;
  const head = `${verdictOf(outcome).padEnd(8)}${name.padEnd(24)}${what}`;
  if (notRun !== '') return `${head}\n${INDENT}not run: ${notRun}`;
  const { state, rest, limits, lost, message } = cellsOf(outcome);
  const lines = [
    `${state}; at rest after ${rest}; velocity/acceleration/jerk ${limits} of the limits; lost: ${lost}`,
    message,
    ...complaints.map((text) => `✗ ${text}`),
  ];
  return [head, ...lines.map((line) => INDENT + line)].join('\n');
}

const INDENT = ' '.repeat(8);
