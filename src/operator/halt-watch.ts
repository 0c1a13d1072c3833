import { NS_PER_MS } from '../core/time/clock.ts';
import type { RobotState } from '../messages/robot-state.ts';
import { HALTS, type Halt } from '../messages/trace-record.ts';

/** A hand that is lost this soon after the input fell silent was lost by the input, not hidden by a person. */
const SILENT_INPUT_NS = 500 * NS_PER_MS;
/** A hold this soon after the operator ended the motion, because it no longer received the robot's states, is no person's. */
const SILENCED_NS = 500 * NS_PER_MS;

/**
 * Notices in the robot's state messages that it halted on its own. The next command carries the halt into its
 * trace; of several before that command, the most serious.
 */
export class HaltWatch {
  /** Index into HALTS, and when it halted on the robot's clock; NaN: nothing since the last `clear`. */
  halt = Number.NaN;
  haltNs = Number.NaN;
  #sinceNs = Number.NaN;
  #inputSilentNs = Number.NEGATIVE_INFINITY;

  /** Every tick; `isSilent`: the active input has fallen silent. Hot path. */
  input(isSilent: boolean, nowNs: number): void {
    if (isSilent) this.#inputSilentNs = nowNs;
  }

  /**
   * A new state message. `isNewRobot`: the first of a robot process, whose past is not ours. `silencedNs`: when the operator
   * last ended the motion itself, because the robot's states were too old. Hot path.
   */
  state(robot: RobotState, isNewRobot: boolean, nowNs: number, silencedNs: number): void {
    const isSeen = isNewRobot || robot.sinceNs === this.#sinceNs;
    this.#sinceNs = robot.sinceNs;
    if (isSeen) return;
    const isInputSilent = nowNs - this.#inputSilentNs < SILENT_INPUT_NS;
    const isSilenced = nowNs - silencedNs < SILENCED_NS;
    const halt = HALTS.indexOf(haltOf(robot, isInputSilent, isSilenced) as Halt);
    if (halt < 0 || halt < this.halt) return;
    this.halt = halt;
    this.haltNs = robot.sinceNs;
  }

  clear(): void {
    this.halt = Number.NaN;
    this.haltNs = Number.NaN;
  }
}

function haltOf({ state, why }: RobotState, isInputSilent: boolean, isSilenced: boolean): string {
  if (state === 'hold' && why === 'person' && isSilenced) return 'hold:silence';
  const reason = why === 'tracking' ? (isInputSilent ? 'input' : 'person') : why;
  return `${state === 'hold' ? 'hold' : state === 'stopped' ? 'stop' : ''}:${reason}`;
}
