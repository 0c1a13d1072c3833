import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { JointFeedback } from '../../buses/dds/joint-feedback.ts';
import type { Driver, JointReading } from '../../driver.ts';
import type { VlaiRosConfig } from './config.ts';
import { Partner } from './partner.ts';
import type { ArmTopics, Side, TopicEvents } from './topics.ts';

const MS = 1e6;
const JOINTS = 7;
const REPEAT_NS = 50 * MS;
const REST_NS = 300 * MS;
const OLD_READS = 3;
/** Interval of messages to the partner, and to the node for the partner. */
const SHARE_NS = 4 * MS;

type OpenTopics = (config: VlaiRosConfig, events: TopicEvents, clock: Clock) => Promise<ArmTopics>;

/**
 * One of two arms behind the vendor's node. Its command holds both arms: the other arm holds its position or,
 * with a partner, follows that process's target. The topics have no power or stop command: to stop is to
 * command the measured pose.
 */
export class VlaiRosDriver implements Driver {
  readonly feedback: Readonly<Record<Side, JointFeedback>>;
  rejected = 0;
  lastRejection = '';
  readonly #config: VlaiRosConfig;
  readonly #clock: Clock;
  readonly #own: JointFeedback;
  readonly #other: JointFeedback;
  readonly #at: number;
  readonly #command = new Float64Array(2 * JOINTS);
  readonly #grippers = new Float64Array(2);
  #topics!: ArmTopics;
  #partner: Partner | null = null;
  /** The partner sets the other arm's half of the command. */
  #isOtherLed = false;
  /** Our half of the command is a pose to hold, whichever side triggers publishing. */
  #isHeld = false;
  /** False until the first gripper target. */
  #hasGripper = false;
  #gripper = 0;
  #on = false;
  #fault = '';
  #unreported = false;
  #blind = false;
  #oldReads = 0;
  #sentNs = Number.NEGATIVE_INFINITY;
  #restUntilNs = Number.NEGATIVE_INFINITY;
  #disposed = false;

  private constructor(config: VlaiRosConfig, side: Side, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
    this.feedback = {
      left: new JointFeedback(config.jointNames),
      right: new JointFeedback(config.jointNames),
    };
    this.#own = this.feedback[side];
    this.#other = this.feedback[side === 'left' ? 'right' : 'left'];
    this.#at = (side === 'left') === (config.order === 'left-first') ? 0 : 1;
    this.#grippers.fill(config.gripperOpenRad);
  }

  static async open(
    config: VlaiRosConfig,
    side: Side,
    clock: Clock,
    openTopics: OpenTopics,
  ): Promise<VlaiRosDriver> {
    const driver = new VlaiRosDriver(config, side, clock);
    const events: TopicEvents = {
      onState: (which, state, nowNs) => {
        const reason = driver.feedback[which].take(state, nowNs);
        if (reason !== null) events.onRejected(reason);
      },
      onRejected: (reason) => {
        driver.rejected++;
        driver.lastRejection = reason;
      },
    };
    if (config.partner !== null) driver.#partner = await Partner.open(config.partner, () => clock.nowNs());
    try {
      driver.#topics = await openTopics(config, events, clock);
    } catch (error) {
      driver.#partner?.close();
      throw error;
    }
    const isThere = () =>
      driver.#receivedNs > Number.NEGATIVE_INFINITY && driver.#trouble(clock.nowNs()) === '';
    if (await driver.#topics.until(isThere, config.connectTimeoutMs)) return driver;
    const error = driver.#silence();
    driver.dispose();
    throw error;
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    return this.rejected;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    if (this.#blind) return 'fault';
    if (this.#on) return 'ok';
    const trouble = this.#trouble(nowNs);
    if (trouble !== '') {
      this.#raise(trouble);
      return 'fault';
    }
    this.#hold(this.#own, this.#at);
    if (!this.#isOtherLed) this.#hold(this.#other, 1 - this.#at);
    this.#on = this.#isHeld = true;
    this.#fault = '';
    this.#unreported = false;
    return this.#publish(nowNs);
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    if (this.#own.receivedNs > Number.NEGATIVE_INFINITY) {
      out.robotNs = this.#own.receivedNs;
      for (let i = 0; i < JOINTS; i++) {
        const direction = this.#config.directions[i]!;
        out.positionsRad[i] = direction * this.#own.positionsRad[i]!;
        out.velocitiesRadS[i] = direction * this.#own.velocitiesRadS[i]!;
      }
      // The node does not report the gripper position: use the last target.
      out.gripper = this.#gripper;
    } else if (!this.#blind) return 'stale';
    if (this.#blind || this.#unreported) {
      this.#unreported = false;
      return 'fault';
    }
    if (this.#partner === null) {
      const speaks = this.#on || nowNs < this.#restUntilNs;
      if (speaks && nowNs - this.#sentNs > REPEAT_NS) this.#publish(nowNs);
    } else if (nowNs - this.#sentNs > SHARE_NS) this.#share(nowNs, this.#partner);
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    if (!this.#on) return this.#fault === '' ? 'ok' : 'fault';
    for (let i = 0; i < JOINTS; i++)
      if (!Number.isFinite(positionsRad[i]!) || !Number.isFinite(gripper)) {
        this.#rest(nowNs);
        this.#raise('a target was not a number');
        return 'fault';
      }
    for (let i = 0; i < JOINTS; i++)
      this.#command[JOINTS * this.#at + i] = this.#config.directions[i]! * positionsRad[i]!;
    const { gripperOpenRad, gripperClosedRad } = this.#config;
    this.#gripper = Math.max(0, Math.min(1, gripper));
    this.#hasGripper = true;
    this.#grippers[this.#at] = gripperOpenRad + this.#gripper * (gripperClosedRad - gripperOpenRad);
    return this.#publish(nowNs);
  }

  stop(nowNs: number): void {
    if (this.#disposed) return;
    if (this.#config.stopChassis) this.#topics.stopChassis(nowNs);
    if (this.#on) this.#rest(nowNs);
  }

  dispose(): void {
    if (this.#disposed) return;
    if (this.#topics !== undefined) this.stop(this.#clock.nowNs());
    this.#disposed = true;
    this.#topics?.close();
    this.#partner?.close();
  }

  get #receivedNs(): number {
    return Math.min(this.#own.receivedNs, this.#other.receivedNs);
  }

  #hold(arm: JointFeedback, at: number): void {
    for (let i = 0; i < JOINTS; i++) this.#command[JOINTS * at + i] = arm.positionsRad[i]!;
  }

  /** The newest pose becomes the target; if it is too old, the last target stays. */
  #rest(nowNs: number): void {
    this.#on = false;
    if (nowNs - this.#own.receivedNs <= this.#config.feedbackTimeoutMs * MS) this.#hold(this.#own, this.#at);
    this.#restUntilNs = nowNs + REST_NS;
    this.#publish(nowNs);
  }

  #publish(nowNs: number): TickStatus {
    this.#sentNs = nowNs;
    const partner = this.#partner;
    if (partner !== null) {
      const own = this.#command.subarray(JOINTS * this.#at, JOINTS * (this.#at + 1));
      partner.send(own, this.#grippers[this.#at]!, this.#on, this.#topics.trouble === '' && !this.#blind);
      if (!partner.speaks) return partner.reaches(nowNs) ? 'ok' : 'stale';
      this.#takeOther(nowNs, partner);
    }
    const grippers = this.#hasGripper ? this.#grippers : null;
    return this.#topics.publish(this.#command, grippers, nowNs) ? 'ok' : 'stale';
  }

  /** The other arm follows its own process's target; when that expires, it holds its position. */
  #takeOther(nowNs: number, partner: Partner): void {
    const at = 1 - this.#at;
    if (partner.moves(nowNs)) {
      this.#isOtherLed = this.#hasGripper = true;
      this.#command.set(partner.targetRad, JOINTS * at);
      this.#grippers[at] = partner.gripperRad;
    } else if (this.#isOtherLed) {
      this.#isOtherLed = false;
      this.#hold(this.#other, at);
    }
  }

  /** Publishes for the other arm if configured; otherwise only reports that we are alive. */
  #share(nowNs: number, partner: Partner): void {
    const speaks = this.#on || nowNs < this.#restUntilNs;
    const forOther = partner.speaks && (partner.moves(nowNs) || this.#isOtherLed);
    if (!speaks && !this.#isHeld) this.#hold(this.#own, this.#at);
    this.#isHeld = speaks || forOther;
    if (this.#isHeld || !partner.speaks) this.#publish(nowNs);
    else {
      this.#sentNs = nowNs;
      const own = this.#command.subarray(JOINTS * this.#at, JOINTS * (this.#at + 1));
      partner.send(own, this.#grippers[this.#at]!, false, this.#topics.trouble === '' && !this.#blind);
    }
  }

  #trouble(nowNs: number): string {
    const partner = this.#partner;
    if (partner === null || partner.speaks) return this.#topics.trouble;
    if (!partner.reaches(nowNs)) {
      // The partner learns that we are alive only through this message.
      partner.send(this.#own.positionsRad, this.#grippers[this.#at]!, false, true);
      return 'the other arm’s process, which publishes for both, is silent or does not reach the node';
    }
    return this.#topics.trouble;
  }

  /** Checks for anything that ends our control of the arm. */
  #watch(nowNs: number): void {
    const { feedbackTimeoutMs } = this.#config;
    const isOld = nowNs - this.#receivedNs > feedbackTimeoutMs * MS;
    this.#oldReads = isOld ? this.#oldReads + 1 : 0;
    const was = this.#blind;
    this.#blind = this.#oldReads >= OLD_READS;
    if (this.#blind && !was) {
      const why = this.#trouble(nowNs) || this.lastRejection;
      if (this.#on) this.#rest(nowNs);
      this.#raise(`no joint states of both arms for ${feedbackTimeoutMs} ms${why === '' ? '' : `: ${why}`}`);
    }
    const trouble = this.#on ? this.#trouble(nowNs) : '';
    if (trouble === '') return;
    this.#rest(nowNs);
    this.#raise(trouble);
  }

  #raise(text: string): void {
    this.#fault = text;
    this.#on = false;
    this.#unreported = true;
  }

  #silence(): TeleopError {
    const { leftStateTopic, rightStateTopic } = this.#config;
    const silent = [
      ...(this.feedback.left.receivedNs > 0 ? [] : [leftStateTopic]),
      ...(this.feedback.right.receivedNs > 0 ? [] : [rightStateTopic]),
    ];
    const what =
      silent.length > 0 ? `no message on ${silent.join(' and ')}` : this.#trouble(this.#clock.nowNs());
    const rejection = this.lastRejection === '' ? '' : ` (last rejected: ${this.lastRejection})`;
    return new TeleopError('robot-silent', `${this.#topics.name}: ${what}${rejection}`, {
      hint: 'Start the vendor’s node; check topic names and `ros.jointNames` with `ros2 topic echo`.',
    });
  }
}
