// UNVERIFIED ON HARDWARE: tested on simulated motors only.

import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { MODE, REGISTER } from '../robot/buses/dynamixel/control-table.ts';
import { serialLine } from '../robot/buses/serial-line.ts';
import { ping, syncRead, syncWrite, write } from '../robot/buses/servo/operations.ts';
import { ServoBus } from '../robot/buses/servo/servo-bus.ts';
import type { ForceFeedback } from './force-feedback.ts';
import type { LeaderMotors } from './leader-motors.ts';
import { type LeaderGripper, leaderOpen, leaderRad } from './leader-pose.ts';
import type { LeaderSink } from './sink.ts';

export interface LeaderOptions {
  port: string;
  baudRate: number;
  /** Motors 1 to this; the gripper's motor is the next. */
  joints: number;
  hz: number;
  sink: LeaderSink;
  gripper: LeaderGripper;
  /** Current that holds the gripper open; 0: none. Only with Dynamixel motors. */
  springMa: number;
  motors: LeaderMotors;
  /** Torques of the joints; null: they move freely. */
  force: ForceFeedback | null;
}

const GOODBYES = 3;
/** An answer may be late on a busy machine. */
const PINGS = 3;
/** Missed answers before the leader counts as lost, in cycles. */
const MAX_MISSED = 3;

/** A leader arm on a servo bus: its pose goes to an operator's input. */
export class Leader {
  /** Complete and incomplete cycles. */
  readonly counts = { sent: 0, missed: 0 };
  readonly #options: LeaderOptions;
  readonly #bus: ServoBus;
  readonly #ids: number[];
  readonly #jointIds: number[];
  readonly #raw: number[];
  readonly #jointsRad: Float64Array;
  readonly #startNs = monotonicClock.nowNs();
  #busy = false;
  #missed = 0;
  #isClosing = false;

  private constructor(options: LeaderOptions, bus: ServoBus) {
    this.#options = options;
    this.#bus = bus;
    this.#ids = Array.from({ length: options.joints + 1 }, (_, i) => i + 1);
    this.#jointIds = this.#ids.slice(0, -1);
    this.#raw = this.#jointIds.map(() => 0);
    this.#jointsRad = new Float64Array(options.joints);
  }

  static async open(options: LeaderOptions): Promise<Leader> {
    const bus = await ServoBus.open(
      serialLine(options.port, options.baudRate),
      options.motors.protocol,
      monotonicClock,
    ).catch((error: unknown) => {
      options.sink.close();
      throw error;
    });
    const leader = new Leader(options, bus);
    try {
      await leader.#prepare();
      bus.every(options.hz, (nowNs) => void leader.#turn(nowNs));
      return leader;
    } catch (error) {
      await leader.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const { sink, motors, force } = this.#options;
    this.#isClosing = true;
    if (this.#bus.isUp && force !== null) await motors.torque.end(this.#bus, this.#jointIds);
    for (let i = 0; i < GOODBYES; i++) await sink.lose(this.#seconds(monotonicClock.nowNs()));
    if (this.#bus.isUp) await this.#relax();
    this.#bus.close();
    sink.close();
  }

  /** All motors must answer; the joints move freely, the gripper is held open by a spring-like current. */
  async #prepare(): Promise<void> {
    const missing: number[] = [];
    for (const id of this.#ids) if (!(await this.#answers(id))) missing.push(id);
    if (missing.length > 0)
      throw new TeleopError('robot-silent', `the leader's motors ${missing.join(', ')} do not answer`, {
        hint: 'Check its power, `--motors` and `--baud`; lerobot sets these motors to 1000000.',
      });
    await this.#relax();
    const { springMa, gripper, force, motors } = this.#options;
    if (force !== null) {
      const found = await syncRead(this.#bus, this.#jointIds, motors.presentPosition);
      await motors.torque.begin(
        this.#bus,
        this.#jointIds,
        this.#jointIds.map((id) => found.get(id) ?? 0),
      );
    }
    if (springMa === 0) return;
    const id = this.#ids.at(-1)!;
    await write(this.#bus, id, REGISTER.operatingMode, MODE.currentBasedPosition);
    await write(this.#bus, id, REGISTER.goalCurrent, springMa);
    await write(this.#bus, id, REGISTER.torqueEnable, 1);
    await write(this.#bus, id, REGISTER.goalPosition, gripper.openTicks);
  }

  async #relax(): Promise<void> {
    await syncWrite(this.#bus, this.#ids, this.#options.motors.torqueEnable, 0);
  }

  async #answers(id: number): Promise<boolean> {
    for (let i = 0; i < PINGS; i++) if ((await ping(this.#bus, id)) !== null) return true;
    return false;
  }

  async #turn(nowNs: number): Promise<void> {
    if (this.#busy || this.#isClosing) return;
    this.#busy = true;
    const found = await syncRead(this.#bus, this.#ids, this.#options.motors.presentPosition);
    const whole = this.#ids.every((id) => found.has(id));
    if (whole) await this.#take(found, nowNs);
    else await this.#miss(nowNs);
    this.#busy = false;
  }

  async #take(found: ReadonlyMap<number, number>, nowNs: number): Promise<void> {
    const { motors, sink, gripper, force } = this.#options;
    const back = this.#missed >= MAX_MISSED;
    this.#jointIds.forEach((id, i) => {
      this.#raw[i] = found.get(id)!;
      this.#jointsRad[i] = leaderRad(motors.ticks(this.#raw[i]!, i));
    });
    const last = this.#jointIds.length;
    const open = leaderOpen(motors.ticks(found.get(this.#ids[last]!)!, last), gripper);
    this.#missed = 0;
    this.counts.sent++;
    await sink.take(this.#jointsRad, open, this.#seconds(nowNs));
    if (force === null || this.#isClosing) return;
    if (back) await motors.torque.begin(this.#bus, this.#jointIds, this.#raw);
    // The instant of the write, not of the read: the torque is held from then on.
    force.turn(monotonicClock.nowNs(), this.#jointsRad, sink.follows);
    await motors.torque.apply(this.#bus, this.#jointIds, this.#raw, force.torquesNm);
  }

  async #miss(nowNs: number): Promise<void> {
    const { sink, motors, force } = this.#options;
    this.#missed++;
    this.counts.missed++;
    if (this.#missed < MAX_MISSED && this.counts.sent > 0) return;
    await sink.lose(this.#seconds(nowNs));
    if (force === null || this.#isClosing) return;
    force.lose();
    await motors.torque.apply(this.#bus, this.#jointIds, this.#raw, force.torquesNm);
  }

  #seconds(nowNs: number): number {
    return (nowNs - this.#startNs) / 1e9;
  }
}
