import type { Counters } from '../core/counters.ts';
import { StructBoard } from '../core/memory/struct-board.ts';
import { number, perJoint, type StructOf, struct } from '../core/memory/struct-layout.ts';
import { NS_PER_MS, NS_PER_S } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { JointCommand } from '../messages/command.ts';
import { emptyCommand } from '../wire/codecs/command.ts';
import type { OperatorLease } from '../wire/session.ts';
import type { Supervisor } from './supervisor/supervisor.ts';
import type { TopicConfig } from './topic-config.ts';

/** The newest command on the topic; `count` grows with each. */
export const TOPIC_BOARD = struct({ count: number, receivedNs: number, positionsRad: perJoint });
export type TopicBoard = StructBoard<StructOf<typeof TOPIC_BOARD>>;

export const topicBoard = (buffer: SharedArrayBuffer, joints: number): TopicBoard =>
  new StructBoard(buffer, TOPIC_BOARD.create(joints));

/** The topic's commander as a holder of the lease; no datagram comes from there. */
export const TOPIC_PEER = -1;
/** A commander that is silent for this long has left: the joints lose power, and nothing is latched. */
const LEFT_NS = 500 * NS_PER_MS;
const MAX_STEP_S = 0.05;

/**
 * Passes commands from a topic to the supervisor, like an operator's: under the lease, armed, limited, and
 * with its watchdog. Each engagement starts at the present pose and approaches the commands at a limited
 * speed. Sans I/O; called once per control cycle. Hot path: nothing allocates.
 */
export class TopicCommander {
  readonly #board: TopicBoard;
  readonly #config: TopicConfig;
  readonly #lease: OperatorLease;
  readonly #supervisor: Supervisor;
  readonly #counters: Counters;
  readonly #command: JointCommand;
  readonly #maxRadS: Float64Array;
  /** Joints that have not reached their commands since the engagement began. */
  readonly #joining: Uint8Array;
  #count = 0;
  #receivedNs = Number.NEGATIVE_INFINITY;
  #steppedNs = 0;

  constructor(
    buffer: SharedArrayBuffer,
    model: RobotModel,
    config: TopicConfig,
    session: number,
    lease: OperatorLease,
    supervisor: Supervisor,
    counters: Counters,
  ) {
    const joints = model.joints.length;
    this.#board = topicBoard(buffer, joints);
    this.#config = config;
    this.#lease = lease;
    this.#supervisor = supervisor;
    this.#counters = counters;
    this.#command = { ...emptyCommand(joints), session, tracking: true };
    this.#maxRadS = Float64Array.from(model.joints, ({ maxVelocityRadS }) => maxVelocityRadS);
    this.#joining = new Uint8Array(joints);
  }

  tick(nowNs: number): void {
    const isNew = this.#board.read() && this.#board.value.count !== this.#count;
    if (!isNew) return this.#leaveIfSilent(nowNs);
    this.#count = this.#board.value.count;
    this.#receivedNs = this.#board.value.receivedNs;
    if (nowNs - this.#receivedNs > LEFT_NS) return this.#counters.add('too-old');
    const result = this.#lease.hello(this.#command.session, TOPIC_PEER, nowNs);
    if (result === 'claimed' || result === 'resumed') this.#join(result === 'claimed', nowNs);
    else if (result !== 'renewed') return this.#counters.add('not-operator');
    if (this.#supervisor.state === 'idle' && this.#config.arm === 'first-command')
      this.#supervisor.arm(nowNs);
    this.#submit(nowNs);
  }

  #join(isNew: boolean, nowNs: number): void {
    if (isNew) {
      this.#command.seq = 0;
      this.#command.engagement = 0;
    }
    this.#supervisor.operatorJoined(isNew, nowNs);
  }

  #leaveIfSilent(nowNs: number): void {
    if (this.#lease.session !== this.#command.session || !this.#lease.isHeld(nowNs)) return;
    if (nowNs - this.#receivedNs <= LEFT_NS) return;
    this.#lease.release(this.#command.session, TOPIC_PEER);
    this.#supervisor.operatorLeft(nowNs);
  }

  #submit(nowNs: number): void {
    const command = this.#command;
    const { state, endedEngagement, epoch } = this.#supervisor;
    const isFollowing = state === 'engaged' && command.engagement > endedEngagement;
    if (!isFollowing) this.#begin(state === 'hold', nowNs);
    this.#approach(nowNs);
    command.seq++;
    command.epoch = epoch;
    command.sampledOperatorNs = nowNs;
    command.sampledRobotNs = this.#receivedNs;
    this.#supervisor.observe(command, nowNs);
    // The supervisor counts what it rejects.
    this.#supervisor.submit(command, nowNs);
  }

  /** A new engagement: from where the joints are, or from where they were held. */
  #begin(isHeld: boolean, nowNs: number): void {
    const { targetRad, reading, endedEngagement } = this.#supervisor;
    this.#command.engagement = Math.max(this.#command.engagement, endedEngagement) + 1;
    this.#command.positionsRad.set(isHeld ? targetRad : reading.positionsRad);
    this.#joining.fill(1);
    this.#steppedNs = nowNs;
  }

  #approach(nowNs: number): void {
    const dtS = Math.min(MAX_STEP_S, (nowNs - this.#steppedNs) / NS_PER_S);
    this.#steppedNs = nowNs;
    const target = this.#command.positionsRad;
    const goal = this.#board.value.positionsRad;
    for (let i = 0; i < target.length; i++) {
      const gap = goal[i]! - target[i]!;
      const speed =
        this.#joining[i] === 1 ? Math.min(this.#config.approachRadS, this.#maxRadS[i]!) : this.#maxRadS[i]!;
      const most = speed * dtS;
      if (Math.abs(gap) > most) target[i]! += Math.sign(gap) * most;
      else {
        target[i] = goal[i]!;
        this.#joining[i] = 0;
      }
    }
  }
}
