import type { RobotState, SupervisorState } from '../messages/robot-state.ts';
import type { SampledHand } from './sampler.ts';

/**
 * Decides whether the active input may make the robot follow. A closed clutch reported by the input is not
 * enough. What else is needed depends on who is behind it:
 *
 * - a person with a clutch: since the last loss and the last engagement, the clutch was seen open in a fresh
 *   sample of a tracked hand from the same sender, while the joints were powered. A loss is silence, an
 *   untracked hand, another input or sender, or a robot that is unreachable or unpowered. A clutch closed
 *   during a loss, or held through it, counts as open until it is seen open.
 * - a person without a clutch (`clutchless`): the robot was armed, or taken over from a policy, since the last loss. A hand that the input
 *   itself lost and found again is not a loss, nor is an engagement rejected while the joints were powering up.
 * - no person (`automatic`): selecting the input and arming the robot is consent. It follows whenever it can,
 *   until a request to hold; then only after `teleop`, another input or a request to arm.
 */
export class Clutch {
  #source = -1;
  #seenOpen = false;
  #mustArm = true;
  #wasArmed = false;
  #paused = false;
  /** Hold was requested since the last tick: an input selected just before does not undo it. */
  #justPaused = false;
  #closed = false;
  #closedAnew = false;
  #mustOpen = false;

  /** The robot should follow. */
  get closed(): boolean {
    return this.#closed;
  }

  /** A person closed the clutch after it was seen open, regardless of the robot's state. */
  get closedAnew(): boolean {
    return this.#closedAnew;
  }

  /** A person holds the clutch closed, and it does not count until it was seen open. */
  get mustOpen(): boolean {
    return this.#mustOpen;
  }

  /** Called every tick while the robot is reachable; true if another input or sender took over. Hot path. */
  update(hand: SampledHand, robot: RobotState): boolean {
    const { sample, status, automatic, clutchless, source, tookOver } = hand;
    const isOther = source !== this.#source;
    const isPowered = POWERED[robot.state];
    const isSeen = status === 'ok' && sample.tracking;
    const isArmed = robot.state === 'armed';
    this.#source = source;
    if (isOther) this.#takeOver(isArmed);
    if (isArmed && !this.#wasArmed) this.#mustArm = false;
    this.#wasArmed = isArmed;
    // The request to take over is consent, as arming is.
    if (tookOver && isPowered) this.#mustArm = false;
    if (!isSeen || !isPowered) this.#seenOpen = false;
    // Taking over from a policy is a clutch that was seen open, then closed.
    else if (tookOver) this.#seenOpen = true;
    // The first sample of another source may still report an earlier release.
    else if (!sample.clutch && !isOther) this.#seenOpen = true;
    const isClosed = isSeen && sample.clutch;
    this.#closedAnew = isClosed && this.#seenOpen;
    this.#justPaused = false;
    const isMeant = automatic ? !this.#paused : clutchless ? !this.#mustArm : this.#seenOpen;
    this.#closed = isClosed && isMeant;
    this.#mustOpen = isClosed && isPowered && !isMeant && !automatic && !clutchless;
    return isOther && !(tookOver && this.#closed);
  }

  #takeOver(isArmed: boolean): void {
    this.#paused = this.#justPaused;
    this.#seenOpen = false;
    if (!isArmed) this.#mustArm = true;
  }

  /**
   * Something other than the clutch ended the engagement: the clutch must be closed again, or the robot
   * armed.
   */
  void(): void {
    this.#seenOpen = false;
    this.#mustArm = true;
    this.#closed = false;
    this.#closedAnew = false;
  }

  /** Like `void`, and also pauses an automatic input. */
  pause(): void {
    this.void();
    this.#paused = this.#justPaused = true;
  }

  /** A person allows an input without a clutch to drive again. */
  resume(): void {
    this.#paused = false;
    this.#mustArm = false;
  }

  /** Home or arming was requested: an automatic input continues once the robot is there or powered. */
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
