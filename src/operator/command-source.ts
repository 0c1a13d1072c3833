import type { Counters, Reason } from '../core/counters.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { minimumJerk } from '../mapping/joint-path.ts';
import type { Mapper } from '../mapping/mapper.ts';
import type { JointCommand } from '../messages/command.ts';
import type { RobotState, SupervisorState } from '../messages/robot-state.ts';
import type { OperatorMode } from '../messages/telemetry.ts';
import { emptyCommand } from '../wire/codecs/command.ts';
import { Clutch } from './clutch.ts';
import type { Homing } from './homing.ts';
import type { RobotView } from './robot-view.ts';
import type { SampledHand } from './sampler.ts';
import { Topic } from './topic.ts';

/** How long a new engagement takes to follow in full. */
const BLEND_NS = 0.4 * NS_PER_S;

/** A command with what only the operator's side knows of it. */
export interface IssuedCommand extends JointCommand {
  /** Delay that the mapping's filter added; NaN without one. Not sent: it goes into the trace. */
  filterDelayNs: number;
  /** Of the hand that is followed, as in `TraceRecord`; NaN when none is. Not sent either. */
  deviceNs: number;
  sentNs: number;
  arrivedNs: number;
}

export interface CommandSourceParts {
  mapper: Mapper;
  homing: Homing;
  robot: RobotView;
  counters: Counters;
  joints: number;
  session: number;
  /** Lets an automatic input begin anew, and pulls its first sample. */
  restartInput: () => void;
}

/**
 * Turns the sampled hand into a follower command, inline on the tick that sampled it. Holds the clutch: an engagement
 * begins from the measured pose and ends with the clutch, the tracking, the input or the robot's own decision.
 * Every drive home is an engagement of its own. Between two engagements the robot comes to rest by itself, so no
 * change of mode steps the joints.
 */
export class CommandSource {
  readonly topic = new Topic<IssuedCommand>();
  readonly command: IssuedCommand;
  /** What the mapper last said. */
  mapped: ReturnType<Mapper['map']> = 'disengaged';
  readonly #parts: CommandSourceParts;
  /** Where the arm was when it was engaged, and where the hand wants it. */
  readonly #engagedRad: Float64Array;
  readonly #mappedRad: Float64Array;
  #engagedNs = 0;
  #engaged = false;
  #engagements = 0;
  readonly #clutch = new Clutch();
  /** At the first engagement and after home, an automatic input starts over: its motion is about that place. */
  #restart = true;
  #gripper = Number.NaN;
  #finished = false;

  constructor(parts: CommandSourceParts) {
    this.#parts = parts;
    this.#engagedRad = new Float64Array(parts.joints);
    this.#mappedRad = new Float64Array(parts.joints);
    const unknown = {
      filterDelayNs: Number.NaN,
      deviceNs: Number.NaN,
      sentNs: Number.NaN,
      arrivedNs: Number.NaN,
    };
    this.command = { ...emptyCommand(parts.joints), session: parts.session, ...unknown };
  }

  get mode(): OperatorMode {
    if (this.#parts.homing.active) return 'home';
    return this.#engaged ? 'teleop' : 'hold';
  }

  /** Drives home from wherever the arm is, if the robot is armed. The clutch must be opened before teleop goes on. */
  home(nowNs: number): Reason | null {
    const { robot, homing } = this.#parts;
    if (this.#finished || !robot.isFresh(nowNs) || !isPowered(robot.state.state)) return 'not-armed';
    if (homing.active) return null;
    this.#release();
    this.#clutch.void();
    this.#clutch.unpause();
    this.#restart = false;
    homing.start(nowNs);
    return null;
  }

  /** Ends whatever moves the robot. Going on takes a fresh press of the clutch, or `teleop`. */
  hold(): void {
    this.stopHoming();
    this.#release();
    this.#clutch.pause();
  }

  /** Lets an input without a clutch drive again; a human with one engages by it. */
  teleop(): void {
    this.stopHoming();
    this.#clutch.resume();
  }

  /** The robot restarted or the link was lost: whatever was agreed is void. */
  disengage(): void {
    this.stopHoming();
    this.#release();
    this.#clutch.void();
  }

  /** The operator is leaving: the next command releases the robot, and none engages it again. */
  finish(): void {
    this.disengage();
    this.#finished = true;
  }

  /** A drive home ends here, short of it; the robot comes to rest, and an automatic input does not take over. */
  stopHoming(): void {
    if (!this.#parts.homing.active) return;
    this.#parts.homing.stop();
    this.#clutch.pause();
  }

  /** Hot path. */
  onHand(hand: SampledHand): void {
    if (!this.#parts.robot.isFresh(hand.sampledNs)) {
      this.disengage();
      return;
    }
    this.#updateClutch(hand);
    const { command } = this;
    const robot = this.#parts.robot.state;
    command.seq++;
    command.epoch = robot.epoch;
    command.sampledOperatorNs = hand.sampledNs;
    command.tracking = hand.status === 'ok' && hand.sample.tracking;
    command.gripper = robot.gripper;
    command.filterDelayNs = command.deviceNs = command.sentNs = command.arrivedNs = Number.NaN;
    if (this.#parts.homing.active) this.#driveHome(hand.sampledNs, robot);
    else if (this.#engaged) this.#follow(hand);
    const moves = this.#engaged || this.#parts.homing.driving;
    if (!moves) command.positionsRad.set(robot.positionsRad);
    command.engagement = moves ? this.#engagements : 0;
    this.topic.publish(command);
  }

  #follow(hand: SampledHand): void {
    const { mapper, counters } = this.#parts;
    this.mapped = mapper.map(hand.sample, this.#mappedRad);
    this.#blendIn(hand.sampledNs);
    this.command.filterDelayNs = mapper.filterDelayNs;
    this.#stampHand(hand);
    this.command.gripper = this.#gripper = hand.sample.gripper;
    if (this.mapped === 'unreachable') counters.add('unreachable');
    if (!isUnusable(this.mapped)) return;
    this.#release();
    this.#clutch.void();
  }

  /** A sample stamped on arrival has no stamp of its device. */
  #stampHand({ sample, arrivedNs }: SampledHand): void {
    this.command.deviceNs = sample.takenNs >= arrivedNs ? Number.NaN : sample.takenNs;
    this.command.sentNs = sample.sentNs;
    this.command.arrivedNs = arrivedNs;
  }

  /** A hand that was moving when it engaged must not jerk the arm along: its motion comes in over a moment, none is lost. */
  #blendIn(nowNs: number): void {
    const { positionsRad } = this.command;
    const weight = minimumJerk(Math.min(1, (nowNs - this.#engagedNs) / BLEND_NS));
    for (let i = 0; i < positionsRad.length; i++) {
      const fromRad = this.#engagedRad[i]!;
      positionsRad[i] =
        weight === 1 ? this.#mappedRad[i]! : fromRad + weight * (this.#mappedRad[i]! - fromRad);
    }
  }

  #driveHome(nowNs: number, robot: RobotState): void {
    const { homing } = this.#parts;
    const step = homing.step(nowNs, robot, this.command.positionsRad);
    if (step === 'begin') this.#engagements = Math.max(this.#engagements, robot.endedEngagement) + 1;
    if (step === 'done') this.#restart = true;
    if (step === 'failed') this.#clutch.pause();
    if (!homing.driving) return;
    // No hand is followed, so none needs to be seen. What the gripper was told last, it goes on doing.
    this.command.tracking = true;
    if (!Number.isNaN(this.#gripper)) this.command.gripper = this.#gripper;
  }

  #updateClutch(hand: SampledHand): void {
    const robot = this.#parts.robot.state;
    const clutch = this.#clutch;
    if (clutch.update(hand, robot)) {
      this.#release();
      if (this.#parts.homing.active) clutch.void();
      this.#parts.homing.stop();
    }
    if (this.#parts.homing.active) this.#mayGoOnHome(robot);
    if (this.#engaged) {
      const ended = robot.endedEngagement >= this.#engagements;
      // Refused before it began, by joints that are still being powered: whoever armed them need not do so again.
      const refused = ended && hand.clutchless && robot.state === 'armed';
      if (ended && !refused) clutch.void();
      if (ended || !clutch.closed) this.#release();
    }
    const ready = !this.#finished && (robot.state === 'armed' || robot.state === 'hold');
    if (ready && !this.#engaged && !this.#parts.homing.active && clutch.closed) this.#engage(hand);
  }

  /** A robot that ended it, or a human who closes the clutch anew, takes over: the arm holds. */
  #mayGoOnHome(robot: RobotState): void {
    const ended = this.#parts.homing.driving && robot.endedEngagement >= this.#engagements;
    if (ended || this.#clutch.closedAnew || !isPowered(robot.state)) this.stopHoming();
  }

  #engage(hand: SampledHand): void {
    const { mapper, robot, restartInput } = this.#parts;
    if (this.#restart && hand.automatic) restartInput();
    this.#restart = false;
    if (isUnusable(mapper.engage(hand.sample, robot.state.positionsRad))) return;
    this.#engagedNs = hand.sampledNs;
    this.#engagedRad.set(robot.state.positionsRad);
    this.#mappedRad.set(robot.state.positionsRad);
    // The robot remembers ended engagements per session; ours only ever grow.
    this.#engagements = Math.max(this.#engagements, robot.state.endedEngagement) + 1;
    this.#engaged = true;
  }

  #release(): void {
    if (!this.#engaged) return;
    this.#parts.mapper.release();
    this.#engaged = false;
    this.mapped = 'disengaged';
  }
}

const isPowered = (state: SupervisorState): boolean =>
  state === 'armed' || state === 'engaged' || state === 'hold';

function isUnusable(status: string): boolean {
  return status === 'bad-input' || status === 'disengaged';
}
