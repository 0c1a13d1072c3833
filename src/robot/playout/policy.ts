import { TeleopError } from '../../core/errors.ts';
import { fixedPolicy } from './fixed.ts';
import { nonePolicy } from './none.ts';

/** When a command is to be applied. Sans-I/O: the same object serves the live robot and a replay. */
export interface PlayoutPolicy {
  readonly name: string;
  /**
   * Due time on the robot's clock. `stampNs` is the leader's get_state tick on that clock, NaN until the first
   * clock offset. May be in the past: the command is then late and released at once.
   */
  schedule(stampNs: number, receivedNs: number): number;
}

const MAX_FIXED_MS = 1000;

/** `none` or `fixed:<ms>`. */
export function createPolicy(text: string): PlayoutPolicy {
  if (text === 'none') return nonePolicy();
  const ms = /^fixed:(\d+(?:\.\d+)?)$/.exec(text)?.[1];
  if (ms !== undefined && Number(ms) <= MAX_FIXED_MS) return fixedPolicy(Number(ms));
  throw new TeleopError('bad-config', `"${text}" is not a playout policy`, {
    hint: `Use robot.playout=none or robot.playout=fixed:60 (milliseconds, at most ${MAX_FIXED_MS}).`,
  });
}
