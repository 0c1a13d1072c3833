import { CdrWriter, ENCAPSULATION } from '../core/cdr.ts';
import { Counters } from '../core/counters.ts';
import { SnapshotBoard } from '../core/memory/snapshot.ts';
import { monotonicClock, NS_PER_S } from '../core/time/clock.ts';
import { Periodic } from '../core/time/periodic.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { ROBOT_BOARD } from '../messages/robot-board.ts';
import { DdsNode } from '../robot/buses/dds/node.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic } from '../robot/buses/dds/ros2.ts';
import type { TopicWriter } from '../robot/buses/dds/topic-writer.ts';
import type { RemoteWriter, Sample } from '../robot/buses/dds/writer-proxy.ts';
import { type TopicBoard, topicBoard } from '../robot/topic-commander.ts';
import type { TopicConfig } from '../robot/topic-config.ts';
import type { RoleMemory } from './role-memory.ts';

const POLL_MS = 2;
const BYTES = 16_384;
/** Another publisher is accepted once the last one has been silent for this long. */
const SILENT_NS = NS_PER_S;

/**
 * The robot's ROS 2 topics: puts commands into shared memory for the control thread and publishes what its board shows.
 * Runs on the main thread: late commands count as silence, and silence causes a hold.
 */
export class TopicLink {
  readonly #node: DdsNode;
  readonly #states: TopicWriter;
  readonly #own: SnapshotBoard;
  readonly #shown;
  readonly #names: readonly string[];
  readonly #commands: TopicBoard;
  readonly #counters: Counters;
  readonly #out = new CdrWriter(new Uint8Array(BYTES));
  readonly #beats: Periodic;
  readonly #timer: NodeJS.Timeout;
  #publisher = '';
  #heardNs = Number.NEGATIVE_INFINITY;

  private constructor(config: TopicConfig, memory: RoleMemory, model: RobotModel, node: DdsNode) {
    const joints = model.joints.length;
    this.#node = node;
    this.#names = model.joints.map(({ name }) => name);
    this.#own = new SnapshotBoard(memory.board);
    this.#shown = ROBOT_BOARD.create(joints);
    this.#commands = topicBoard(memory.topics, joints);
    this.#counters = new Counters(memory.counters);
    const { participant } = node;
    // A reliable writer matches every reader, a best-effort reader every writer.
    this.#states = participant.addWriter(ros2Topic(config.stateTopic, jointState, { reliable: true }));
    participant.addReader(
      ros2Topic(config.commandTopic, float64MultiArray, { reliable: false }),
      (sample, writer, nowNs) => this.#onCommand(sample, writer, nowNs),
    );
    this.#beats = new Periodic(config.stateHz, monotonicClock.nowNs());
    node.start();
    this.#timer = setInterval(() => this.#publish(), POLL_MS);
  }

  static async open(config: TopicConfig, memory: RoleMemory, model: RobotModel): Promise<TopicLink> {
    const { domainId, interfaceAddress, peers, allow } = config;
    const settings = { domainId, interfaceAddress, peers, allow, name: 'farhand robot' };
    return new TopicLink(config, memory, model, await DdsNode.open(settings, monotonicClock));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#node.close();
  }

  #onCommand(sample: Sample, writer: RemoteWriter, nowNs: number): void {
    if (sample.gone !== 0) return;
    if (writer.key !== this.#publisher && nowNs - this.#heardNs <= SILENT_NS)
      return this.#counters.add('not-operator');
    const data = readMessageOf(float64MultiArray, sample.payload)?.data;
    if (data === undefined) return this.#counters.add('malformed');
    if (data.length !== this.#names.length) return this.#counters.add('joint-count');
    for (let i = 0; i < data.length; i++)
      if (!Number.isFinite(data[i])) return this.#counters.add('non-finite');
    this.#publisher = writer.key;
    this.#heardNs = nowNs;
    const { value } = this.#commands;
    value.count++;
    value.receivedNs = nowNs;
    for (let i = 0; i < data.length; i++) value.positionsRad[i] = data[i]!;
    this.#commands.write();
  }

  #publish(): void {
    const nowNs = monotonicClock.nowNs();
    if (!this.#beats.due(nowNs)) return;
    if (this.#own.read(this.#shown.packed) === null) return;
    const { measuredRad, velocitiesRadS, robotNs } = this.#shown;
    if (!measuredRad.every(Number.isFinite)) return;
    this.#out.begin(ENCAPSULATION.cdrLe);
    jointState.write(this.#out, {
      stampNs: this.#node.wallNs - (nowNs - robotNs),
      frameId: '',
      names: this.#names,
      positions: measuredRad,
      velocities: velocitiesRadS,
      efforts: [],
    });
    if (this.#out.ok)
      this.#states.write(this.#out.bytes.subarray(0, this.#out.length), this.#node.wallNs, nowNs);
  }
}
