import type { JointCommand } from '../../core/messages.ts';
import { Topic } from '../../core/topic.ts';
import type { ArmMapper } from '../../mapping/arm-mapper.ts';
import { emptyCommand } from '../../wire/codecs/command.ts';
import type { LeaderState } from './leader.ts';
import type { RobotView } from './robot-view.ts';

/**
 * Turns what the leader saw into a follower command, inline on the leader's tick. Holds the clutch: an engagement
 * begins from the measured pose and ends with the clutch, the tracking, the input or the robot's own decision.
 */
export class Orchestrator {
  readonly topic = new Topic<JointCommand>();
  readonly command: JointCommand;
  readonly #mapper: ArmMapper;
  readonly #robot: RobotView;
  #engaged = false;
  #engagements = 0;
  /** The clutch must be seen open before it counts again. */
  #mustRelease = false;
  /** An input without a clutch has to see the robot armed anew before it counts again. */
  #mustArm = false;
  #wasArmed = false;
  #source = -1;
  #finished = false;

  constructor(mapper: ArmMapper, robot: RobotView, joints: number, session: number) {
    this.#mapper = mapper;
    this.#robot = robot;
    this.command = emptyCommand(joints);
    this.command.session = session;
  }

  /** The robot restarted or the link was lost: whatever was agreed is void. */
  disengage(): void {
    if (this.#engaged) this.#release(true);
  }

  /** The operator is leaving: the next command releases the robot, and none engages it again. */
  finish(): void {
    this.disengage();
    this.#finished = true;
  }

  /** Hot path. */
  onLeader(leader: LeaderState): void {
    if (!this.#robot.isFresh(leader.getStateNs)) {
      this.disengage();
      return;
    }
    this.#updateClutch(leader);
    const { command } = this;
    const robot = this.#robot.state;
    command.seq++;
    command.epoch = robot.epoch;
    command.stateOperatorNs = leader.getStateNs;
    command.tracking = leader.status === 'ok' && leader.sample.tracking;
    command.gripper = this.#engaged ? leader.sample.gripper : robot.gripper;
    if (!this.#engaged) command.positionsRad.set(robot.positionsRad);
    else if (isUnusable(this.#mapper.map(leader.sample, command.positionsRad)))
      this.#release(!leader.automatic);
    command.engagement = this.#engaged ? this.#engagements : 0;
    this.topic.publish(command);
  }

  #updateClutch(leader: LeaderState): void {
    const robot = this.#robot.state;
    const trusted = leader.status === 'ok' && leader.sample.tracking;
    if (leader.source !== this.#source) {
      this.#source = leader.source;
      if (this.#engaged) this.#release(!leader.automatic);
      if (robot.state !== 'armed') this.#mustArm = true;
    }
    if (robot.state === 'armed' && !this.#wasArmed) this.#mustArm = false;
    this.#wasArmed = robot.state === 'armed';
    // An open clutch counts only where it was really seen: a silent device says nothing.
    if ((trusted && !leader.sample.clutch) || leader.automatic) this.#mustRelease = false;
    if (this.#engaged) {
      const ended = robot.endedEngagement >= this.#engagements;
      if (!leader.sample.clutch) this.#release(ended && leader.clutchless);
      else if (!trusted || ended) this.#release(!leader.automatic);
    }
    const ready = !this.#finished && (robot.state === 'armed' || robot.state === 'hold');
    const barred = leader.clutchless ? this.#mustArm : this.#mustRelease;
    if (!this.#engaged && ready && trusted && leader.sample.clutch && !barred) this.#engage(leader);
  }

  #engage(leader: LeaderState): void {
    if (isUnusable(this.#mapper.engage(leader.sample, this.#robot.state.positionsRad))) return;
    // The robot remembers ended engagements per session; ours only ever grow.
    this.#engagements = Math.max(this.#engagements, this.#robot.state.endedEngagement) + 1;
    this.#engaged = true;
  }

  #release(mustRelease: boolean): void {
    this.#mapper.release();
    this.#engaged = false;
    this.#mustRelease = mustRelease;
    if (mustRelease) this.#mustArm = true;
  }
}

function isUnusable(status: string): boolean {
  return status === 'bad-input' || status === 'disengaged';
}
