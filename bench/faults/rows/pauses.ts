import { type Fault, HOLD_REST_MS } from '../fault.ts';
import { pause } from '../trial-rig.ts';

const PAUSES_S = [0.05, 0.3, 2, 10];
const AFTER_MS = 1800;

/** A pause of the operator looks like a network outage to both ends. */
export function silenceOf(seconds: number): Fault['expected'] {
  if (seconds < 0.2) return { ends: ['engaged'], restMs: null, message: null };
  if (seconds < 1)
    return {
      through: ['hold'],
      ends: ['engaged'],
      restMs: HOLD_REST_MS,
      message: /^robot: engaged → hold: no command for 100 ms/,
    };
  return {
    through: ['hold', 'stopped'],
    ends: ['stopped'],
    restMs: HOLD_REST_MS,
    message: /^robot: hold → stopped: operator silent/,
  };
}

const pausesOf = (who: 'operator' | 'robot', expected: (seconds: number) => Fault['expected']): Fault[] =>
  PAUSES_S.map((seconds) => ({
    name: `pause-${who}-${seconds}`,
    what: `${who} suspended for ${seconds} s (SIGSTOP)`,
    seconds: 7 + seconds,
    expected: expected(seconds),
    async run(rig) {
      rig[who].child.kill('SIGSTOP');
      rig.mark();
      await pause(1000 * seconds);
      rig[who].child.kill('SIGCONT');
      await pause(AFTER_MS);
    },
  }));

/** A robot that was suspended for long cannot know the state of its arm, so it stops when it continues. */
const robotExpected = (seconds: number): Fault['expected'] => {
  const restMs = 1000 * seconds + HOLD_REST_MS;
  if (seconds < 0.1) return { ends: ['engaged'], restMs: null, message: null };
  if (seconds < 1)
    return { ends: ['engaged', 'hold', 'stopped'], restMs, message: /^robot: engaged → (hold|stopped)/ };
  return { through: ['stopped'], ends: ['stopped'], restMs, message: /^robot: \w+ → stopped: / };
};

export const PAUSE_ROWS: readonly Fault[] = [
  ...pausesOf('operator', silenceOf),
  ...pausesOf('robot', robotExpected),
];
