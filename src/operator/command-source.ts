import type { Counters, Reason } from '../core/counters.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import type { Mapper } from '../mapping/mapper.ts';
import type { JointCommand } from '../messages/command.ts';
import type { HandSample } from '../messages/hand-sample.ts';
import type { RowSource } from '../messages/recording.ts';
import type { RobotState } from '../messages/robot-state.ts';
import type { OperatorMode } from '../messages/telemetry.ts';
import { emptyCommand } from '../wire/codecs/command.ts';
import { Clutch } from './clutch.ts';
import { GripPickUp } from './grip-pick-up.ts';
import type { Homing } from './homing.ts';
import { isPowered, type RobotView } from './robot-view.ts';
import type { SampledHand } from './sampler.ts';
import { Topic } from './topic.ts';

/** A hand that claims to be older than this is taken as this old. */
const MAX_AGE_NS = 0.2 * NS_PER_S;

/** A command with data known only to the operator's side. */
export interface IssuedCommand extends JointCommand {
  /** Delay added by the mapping's filter; NaN without one. Not sent: for the trace. */
  filterDelayNs: number;
  /** Stamps of the followed hand, as in `TraceRecord`; NaN if none. Not sent either. */
  deviceNs: number;
  sentNs: number;
  arrivedNs: number;
  /** Who drives. Not sent: for recordings. */
  source: RowSource;
  /** A person drives an attempt that a policy began. */
  intervention: boolean;
  /** Largest joint's distance between this command and what a policy proposes; NaN: none runs along. */
  disagreementRad: number;
}

export interface CommandSourceParts {
  mapper: Mapper;
  homing: Homing;
  robot: RobotView;
  counters: Counters;
  joints: number;
  session: number;
  /** Restarts an automatic input and pulls its first sample. */
  restartInput: () => void;
}

/**
 * Turns the sampled hand into a command, inline on the tick that sampled it. Owns the clutch: an engagement
 * begins from the measured pose and ends with the clutch, the tracking, the input or the robot's decision.
 * Every drive home is a separate engagement. Between engagements the robot comes to rest on its own, so a
 * change of mode never makes the joints jump.
 */
export class CommandSource {
  readonly topic = new Topic<IssuedCommand>();
  readonly command: IssuedCommand;
  /** Last result of the mapper. */
  mapped: ReturnType<Mapper['map']> = 'disengaged';
  /** The last tick at which the robot's silence kept it from moving on. */
  silencedNs = Number.NEGATIVE_INFINITY;
  readonly #parts: CommandSourceParts;
  #engaged = false;
  #engagements = 0;
  readonly #clutch = new Clutch();
  /**
   * At the first engagement and after homing, an automatic input restarts: its motion is relative to that
   * pose.
   */
  #restart = true;
  #gripper = Number.NaN;
  readonly #grip = new GripPickUp();
  #finished = false;
  #wasMoving = false;

  constructor(parts: CommandSourceParts) {
    this.#parts = parts;
    const unknown = {
      filterDelayNs: Number.NaN,
      deviceNs: Number.NaN,
      sentNs: Number.NaN,
      arrivedNs: Number.NaN,
      source: 'none' as const,
      intervention: false,
      disagreementRad: Number.NaN,
    };
    this.command = { ...emptyCommand(parts.joints), session: parts.session, ...unknown };
  }

  get mode(): OperatorMode {
    if (this.#parts.homing.active) return 'home';
    return this.#engaged ? 'teleop' : 'hold';
  }

  /** See `Clutch`. */
  get mustOpenClutch(): boolean {
    return this.#clutch.mustOpen;
  }

  /** Drives home from any pose, if the robot is armed. The clutch must be opened before teleop resumes. */
  home(nowNs: number): Reason | null {
    const { robot, homing } = this.#parts;
    if (this.#finished || !robot.isFresh(nowNs) || !isPowered(robot.state.state) || !robot.isPartnerPowered)
      return 'not-armed';
    if (homing.active) return null;
    this.#release();
    this.#clutch.void();
    this.#clutch.unpause();
    this.#restart = false;
    homing.start(nowNs);
    return null;
  }

  /** Ends any motion. Resuming takes a fresh press of the clutch, or `teleop`. */
  hold(): void {
    this.stopHoming();
    this.#release();
    this.#clutch.pause();
  }

  /** Lets an input without a clutch drive again; a person with a clutch engages by pressing it. */
  teleop(): void {
    this.stopHoming();
    this.#clutch.resume();
  }

  /** Arming was requested: an automatic input may drive again. */
  arm(): void {
    this.#clutch.unpause();
  }

  /** The robot restarted or the link was lost: ends any engagement. */
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

  /** Aborts a drive home; the robot comes to rest, and an automatic input does not take over. */
  stopHoming(): void {
    if (!this.#parts.homing.active) return;
    this.#parts.homing.stop();
    this.#clutch.pause();
  }

  /** Hot path. */
  onHand(hand: SampledHand): void {
    if (!this.#parts.robot.isFresh(hand.sampledNs)) {
      this.#wasMoving ||= this.mode !== 'hold';
      if (this.#wasMoving) this.silencedNs = hand.sampledNs;
      this.disengage();
      return;
    }
    this.#wasMoving = false;
    this.#updateClutch(hand);
    const { command } = this;
    const robot = this.#parts.robot.state;
    command.seq++;
    command.epoch = robot.epoch;
    command.sampledOperatorNs = hand.sampledNs;
    command.ageNs = 0;
    command.tracking = hand.status === 'ok' && hand.sample.tracking;
    command.gripper = robot.gripper;
    command.filterDelayNs = command.deviceNs = command.sentNs = command.arrivedNs = Number.NaN;
    if (this.#parts.homing.active) this.#driveHome(hand.sampledNs, robot);
    else if (this.#engaged) this.#follow(hand);
    const moves = this.#engaged || this.#parts.homing.driving;
    if (!moves) command.positionsRad.set(robot.positionsRad);
    command.engagement = moves ? this.#engagements : 0;
    command.source = this.#engaged ? hand.sample.source : moves ? 'program' : 'none';
    command.intervention = this.#engaged && hand.isIntervention;
    command.disagreementRad = this.#engaged ? disagreement(command.positionsRad, hand.shadow) : Number.NaN;
    this.topic.publish(command);
  }

  #follow(hand: SampledHand): void {
    const { mapper, counters } = this.#parts;
    // The first command of a person who takes over is the policy's last one.
    this.mapped = hand.tookOver ? 'ok' : mapper.map(hand.sample, this.command.positionsRad);
    this.command.filterDelayNs = mapper.filterDelayNs;
    this.command.ageNs = Math.max(0, Math.min(MAX_AGE_NS, hand.sampledNs - hand.sample.takenNs));
    this.#stampHand(hand);
    this.command.gripper = this.#gripper = this.#grip.follow(hand.sample.gripper);
    if (this.mapped === 'unreachable') counters.add('unreachable');
    if (!isUnusable(this.mapped)) return;
    this.#release();
    this.#clutch.void();
  }

  /** A sample stamped on arrival has no device stamp. */
  #stampHand({ sample, arrivedNs }: SampledHand): void {
    this.command.deviceNs = sample.takenNs >= arrivedNs ? Number.NaN : sample.takenNs;
    this.command.sentNs = sample.sentNs;
    this.command.arrivedNs = arrivedNs;
  }

  #driveHome(nowNs: number, robot: RobotState): void {
    const { homing } = this.#parts;
    const step = homing.step(nowNs, robot, this.command.positionsRad);
    if (step === 'begin') this.#engagements = Math.max(this.#engagements, robot.endedEngagement) + 1;
    if (step === 'done') this.#restart = true;
    if (step === 'failed') this.#clutch.pause();
    if (!homing.driving) return;
    // No hand is followed, so none needs to be tracked. The gripper keeps its last command.
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
    if (hand.tookOver && this.#engaged) this.#reseat(hand);
    if (this.#parts.homing.active) this.#mayGoOnHome(robot);
    const { isPartnerPowered } = this.#parts.robot;
    if (this.#engaged) {
      const ended = robot.endedEngagement >= this.#engagements || !isPartnerPowered;
      // Rejected before it began, because the joints were still being powered: no need to arm again.
      const rejected = ended && isPartnerPowered && hand.clutchless && robot.state === 'armed';
      if (ended && !rejected) clutch.void();
      if (ended || !clutch.closed) this.#release();
    }
    const ready = !this.#finished && isPartnerPowered && (robot.state === 'armed' || robot.state === 'hold');
    if (ready && !this.#engaged && !this.#parts.homing.active && clutch.closed) this.#engage(hand);
  }

  /** Aborts homing if the robot ended it or a person closes the clutch again: the arm holds. */
  #mayGoOnHome(robot: RobotState): void {
    const ended = this.#parts.homing.driving && robot.endedEngagement >= this.#engagements;
    const isUnpowered = !isPowered(robot.state) || !this.#parts.robot.isPartnerPowered;
    if (ended || this.#clutch.closedAnew || isUnpowered) this.stopHoming();
  }

  #engage(hand: SampledHand): void {
    const { mapper, robot, restartInput } = this.#parts;
    if (this.#restart && hand.automatic) restartInput();
    this.#restart = false;
    if (isUnusable(mapper.engage(hand.sample, robot.state.positionsRad))) return;
    this.#grip.free();
    this.command.positionsRad.set(robot.state.positionsRad);
    // The robot remembers ended engagements per session; our numbers only increase.
    this.#engagements = Math.max(this.#engagements, robot.state.endedEngagement) + 1;
    this.#engaged = true;
  }

  /** The engagement goes on under another hand, from where the last command was. */
  #reseat(hand: SampledHand): void {
    const { mapper } = this.#parts;
    mapper.release();
    this.#grip.hold(this.#gripper);
    if (!isUnusable(mapper.engage(hand.sample, this.command.positionsRad))) return;
    this.#release();
    this.#clutch.void();
  }

  #release(): void {
    if (!this.#engaged) return;
    this.#parts.mapper.release();
    this.#engaged = false;
    this.mapped = 'disengaged';
  }
}

function isUnusable(status: string): boolean {
  return status === 'bad-input' || status === 'disengaged';
}

/** NaN if the shadow has other joints, or none. */
function disagreement(positionsRad: Float64Array, { joints, jointsRad }: HandSample): number {
  if (joints !== positionsRad.length) return Number.NaN;
  let most = 0;
  for (let i = 0; i < joints; i++) most = Math.max(most, Math.abs(jointsRad[i]! - positionsRad[i]!));
  return most;
}
