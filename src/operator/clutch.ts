import type { RobotState, SupervisorState } from '../messages/robot-state.ts';
import type { SampledHand } from './sampler.ts';

/**
 * Whether the input in use may make the robot follow: the one place that knows. An input's own word for a closed clutch
 * is not enough. What else it takes depends on who is behind it:
 *
 * - a person with a clutch: it was seen open, in a fresh sample of a tracked hand of the same sender, while the joints
 *   were powered, since the last loss and since the last engagement. A loss is silence, a hand that is not tracked,
 *   another input or sender, a robot that is not reached or not powered. A clutch that was closed in any of them, or
 *   through it, counts as open until it is seen open.
 * - a person without a clutch (`clutchless`): the robot was armed since the last loss. A hand that the input itself lost
 *   and found again is none; nor is one that was refused while the joints were still being powered.
 * - nobody (`automatic`): choosing the input and arming the robot was the act. It follows whenever it can, until a
 *   request to hold; then only after `teleop`, another input or new arming.
 */
export class Clutch {
  #source = -1;
  #seenOpen = false;
  #mustArm = true;
  #wasArmed = false;
  #paused = false;
  /** Asked to hold since the last tick: an input that was chosen just before does not undo it. */
  #justPaused = false;
  #closed = false;
  #closedAnew = false;

  /** The robot shall follow. */
  get closed(): boolean {
    return this.#closed;
  }

  /** A person closed the clutch after it was seen open, whatever the robot may do. */
  get closedAnew(): boolean {
    return this.#closedAnew;
  }

  /** At every tick of a robot that is reached; true when another input or sender took over. Hot path. */
  update(hand: SampledHand, robot: RobotState): boolean {
    const { sample, status, automatic, clutchless, source } = hand;
    const isOther = source !== this.#source;
    const isPowered = POWERED[robot.state];
    const isSeen = status === 'ok' && sample.tracking;
    const isArmed = robot.state === 'armed';
    this.#source = source;
    if (isOther) this.#takeOver(isArmed);
    if (isArmed && !this.#wasArmed) this.#mustArm = false;
    this.#wasArmed = isArmed;
    if (!isPowered) this.#paused = false;
    if (!isSeen || !isPowered) this.#seenOpen = false;
    // The first sample of another may still tell of a release from before.
    else if (!sample.clutch && !isOther) this.#seenOpen = true;
    const isClosed = isSeen && sample.clutch;
    this.#closedAnew = isClosed && this.#seenOpen;
    this.#justPaused = false;
    const isMeant = automatic ? !this.#paused : clutchless ? !this.#mustArm : this.#seenOpen;
    this.#closed = isClosed && isMeant;
    return isOther;
  }

  #takeOver(isArmed: boolean): void {
    this.#paused = this.#justPaused;
    this.#seenOpen = false;
    if (!isArmed) this.#mustArm = true;
  }

  /** Something other than the clutch ended what it was closed for: it has to be closed anew, or the robot armed. */
  void(): void {
    this.#seenOpen = false;
    this.#mustArm = true;
    this.#closed = false;
    this.#closedAnew = false;
  }

  /** As `void`, and an automatic input stays out as well. */
  pause(): void {
    this.void();
    this.#paused = this.#justPaused = true;
  }

  /** A person lets an input without a clutch drive again. */
  resume(): void {
    this.#paused = false;
    this.#mustArm = false;
  }

  /** Home was asked for: an automatic input goes on when the robot is there. */
  unpause(): void {
    this.#paused = false;
  }
}

const POWERED: Record<SupervisorState, boolean> = {
  disconnected: false,
  idle: false,
  armed: true,
  engaged: true,
  hold: true,
  stopped: false,
};
