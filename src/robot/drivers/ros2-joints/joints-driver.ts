import { CdrWriter, ENCAPSULATION } from '../../../core/cdr.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { JointFeedback } from '../../buses/dds/joint-feedback.ts';
import { DdsNode } from '../../buses/dds/node.ts';
import { float64MultiArray, jointState, readMessageOf, ros2Topic } from '../../buses/dds/ros2.ts';
import type { TopicReader } from '../../buses/dds/topic-reader.ts';
import type { TopicWriter } from '../../buses/dds/topic-writer.ts';
import type { RemoteWriter, Sample } from '../../buses/dds/writer-proxy.ts';
import type { Driver, JointReading } from '../../driver.ts';
import type { Ros2JointsConfig } from './config.ts';

const MS = 1e6;
/** Repeat the target at this interval, for a node that starts late or lost one. */
const REPEAT_NS = 50 * MS;
/** After a stop, the hold pose is repeated for this long. */
const REST_NS = 300 * MS;
/** Stale reads tolerated before a fault: a busy thread must first process what has arrived. */
const OLD_READS = 3;
const COMMAND_HEAD_BYTES = 32;

/**
 * Joints behind a ROS 2 node that accepts position targets and publishes positions. The topics have no power
 * or stop command: to stop is to command the measured pose.
 */
export class Ros2JointsDriver implements Driver {
  readonly feedback: JointFeedback;
  /** Rejected joint states, with the last reason. */
  rejected = 0;
  lastRejection = '';
  readonly #config: Ros2JointsConfig;
  readonly #clock: Clock;
  readonly #node: DdsNode;
  readonly #writer: TopicWriter;
  readonly #reader: TopicReader;
  readonly #target: Float64Array;
  readonly #command: { data: Float64Array };
  readonly #out: CdrWriter;
  /** The one publisher that is accepted. */
  #publisher = '';
  #on = false;
  #fault = '';
  /** Whether a read has reported the fault yet. */
  #unreported = false;
  #blind = false;
  #oldReads = 0;
  #sentNs = Number.NEGATIVE_INFINITY;
  #restUntilNs = Number.NEGATIVE_INFINITY;
  #disposed = false;

  private constructor(config: Ros2JointsConfig, joints: readonly string[], node: DdsNode, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
    this.#node = node;
    this.feedback = new JointFeedback(joints);
    this.#target = new Float64Array(joints.length);
    this.#command = { data: this.#target };
    this.#out = new CdrWriter(new Uint8Array(COMMAND_HEAD_BYTES + 8 * joints.length));
    const { participant } = node;
    const isReliable = (kind: string) => ({ reliable: kind === 'reliable' });
    this.#writer = participant.addWriter(
      ros2Topic(config.commandTopic, float64MultiArray, isReliable(config.commandReliability)),
    );
    this.#reader = participant.addReader(
      ros2Topic(config.stateTopic, jointState, isReliable(config.stateReliability)),
      (sample, writer, nowNs) => this.#onState(sample, writer, nowNs),
    );
    node.start();
  }

  static async connect(
    config: Ros2JointsConfig,
    joints: readonly string[],
    clock: Clock,
  ): Promise<Ros2JointsDriver> {
    const { domainId, interfaceAddress, peers, allow } = config;
    const node = await DdsNode.open({ domainId, interfaceAddress, peers, allow, name: 'farhand' }, clock);
    return new Ros2JointsDriver(config, joints, node, clock);
  }

  get node(): DdsNode {
    return this.#node;
  }

  get publishers(): number {
    return this.#reader.matched;
  }

  get subscribers(): number {
    return this.#writer.matched;
  }

  get fault(): string {
    return this.#fault;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    if (this.#blind) return 'fault';
    if (this.#on) return 'ok';
    const failure = this.#whyNot();
    if (failure !== '') {
      this.#raise(failure);
      return 'fault';
    }
    this.#target.set(this.feedback.positionsRad);
    this.#on = true;
    this.#fault = '';
    this.#unreported = false;
    return this.#publish(nowNs);
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    const { receivedNs, positionsRad, velocitiesRadS } = this.feedback;
    if (receivedNs > Number.NEGATIVE_INFINITY) {
      out.robotNs = receivedNs;
      out.positionsRad.set(positionsRad);
      out.velocitiesRadS.set(velocitiesRadS);
      out.gripper = 0;
    } else if (!this.#blind) return 'stale';
    if (this.#blind || this.#unreported) {
      this.#unreported = false;
      return 'fault';
    }
    const speaks = this.#on || nowNs < this.#restUntilNs;
    if (speaks && nowNs - this.#sentNs > REPEAT_NS) this.#publish(nowNs);
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, _gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    if (!this.#on) return this.#fault === '' ? 'ok' : 'fault';
    for (let i = 0; i < this.#target.length; i++)
      if (!Number.isFinite(positionsRad[i]!)) {
        this.#rest(nowNs);
        this.#raise('a target was not a number');
        return 'fault';
      }
    this.#target.set(positionsRad);
    return this.#publish(nowNs);
  }

  stop(nowNs: number): void {
    if (this.#disposed || !this.#on) return;
    this.#rest(nowNs);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.stop(this.#clock.nowNs());
    this.#disposed = true;
    void this.#node.close();
  }

  /** The newest pose becomes the target; if it is too old, the last target stays. */
  #rest(nowNs: number): void {
    this.#on = false;
    const { receivedNs, positionsRad } = this.feedback;
    if (nowNs - receivedNs <= this.#config.feedbackTimeoutMs * MS) this.#target.set(positionsRad);
    this.#restUntilNs = nowNs + REST_NS;
    this.#publish(nowNs);
  }

  #publish(nowNs: number): TickStatus {
    this.#sentNs = nowNs;
    this.#out.begin(ENCAPSULATION.cdrLe);
    float64MultiArray.write(this.#out, this.#command);
    const payload = this.#out.bytes.subarray(0, this.#out.length);
    return this.#writer.write(payload, this.#node.wallNs, nowNs) ? 'ok' : 'fault';
  }

  #whyNot(): string {
    const { commandTopic, allowOtherCommanders } = this.#config;
    if (this.#writer.matched === 0) return `no node subscribes to ${commandTopic}`;
    const rivals = this.#node.participant.rivals(this.#writer.data.topic);
    if (rivals > 0 && !allowOtherCommanders) return `another node publishes ${commandTopic}`;
    return '';
  }

  /** Checks for anything that ends our control of the joints. */
  #watch(nowNs: number): void {
    const { feedbackTimeoutMs, stateTopic } = this.#config;
    const isOld = nowNs - this.feedback.receivedNs > feedbackTimeoutMs * MS;
    this.#oldReads = isOld ? this.#oldReads + 1 : 0;
    const was = this.#blind;
    this.#blind = this.#oldReads >= OLD_READS;
    if (this.#blind && !was) {
      const why = this.lastRejection === '' ? '' : ` (last rejected: ${this.lastRejection})`;
      if (this.#on) this.#rest(nowNs);
      this.#raise(`no joint states on ${stateTopic} for ${feedbackTimeoutMs} ms${why}`);
    }
    if (!this.#on) return;
    const failure = this.#whyNot();
    if (failure === '') return;
    this.#rest(nowNs);
    this.#raise(failure);
  }

  #raise(text: string): void {
    this.#fault = text;
    this.#on = false;
    this.#unreported = true;
  }

  #onState(sample: Sample, writer: RemoteWriter, nowNs: number): void {
    if (sample.gone !== 0 || this.#disposed) return;
    if (writer.key !== this.#publisher && !this.#mayChangePublisher(nowNs))
      return this.#reject('second publisher');
    const message = readMessageOf(jointState, sample.payload);
    if (message === null) return this.#reject('malformed');
    const reason = this.feedback.take(message, nowNs);
    if (reason !== null) return this.#reject(reason);
    this.#publisher = writer.key;
    this.lastRejection = '';
  }

  #mayChangePublisher(nowNs: number): boolean {
    const { feedbackTimeoutMs } = this.#config;
    return !this.#reader.has(this.#publisher) || nowNs - this.feedback.receivedNs > feedbackTimeoutMs * MS;
  }

  #reject(reason: string): void {
    this.rejected++;
    this.lastRejection = reason;
    this.#node.participant.tally.add('refused-message');
  }
}
