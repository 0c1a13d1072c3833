import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { MODE, REGISTER } from '../robot/buses/dynamixel/control-table.ts';
import { serialLine } from '../robot/buses/serial-line.ts';
import { ping, syncRead, syncWrite, write } from '../robot/buses/servo/operations.ts';
import { ServoBus } from '../robot/buses/servo/servo-bus.ts';
import type { LeaderLine } from './leader-line.ts';
import type { LeaderMotors } from './leader-motors.ts';
import { type LeaderGripper, leaderOpen, leaderRad } from './leader-pose.ts';

export interface ServoLineOptions {
  port: string;
  baudRate: number;
  /** Motors 1 to this; the gripper's motor is the next. */
  joints: number;
  gripper: LeaderGripper;
  /** Current that holds the gripper open; 0: none. Only with Dynamixel motors. */
  springMa: number;
  motors: LeaderMotors;
}

/** An answer may be late on a busy machine. */
const PINGS = 3;

/** A leader of servos on one serial line. */
export class ServoLine implements LeaderLine {
  readonly jointsRad: Float64Array;
  open = 1;
  readonly #options: ServoLineOptions;
  readonly #bus: ServoBus;
  readonly #ids: number[];
  readonly #jointIds: number[];
  readonly #raw: number[];
  readonly #zeroNm: Float64Array;
  #hasTorque = false;

  private constructor(options: ServoLineOptions, bus: ServoBus) {
    this.#options = options;
    this.#bus = bus;
    this.#ids = Array.from({ length: options.joints + 1 }, (_, i) => i + 1);
    this.#jointIds = this.#ids.slice(0, -1);
    this.#raw = this.#jointIds.map(() => 0);
    this.jointsRad = new Float64Array(options.joints);
    this.#zeroNm = new Float64Array(options.joints);
  }

  static async open(options: ServoLineOptions): Promise<ServoLine> {
    const { port, baudRate, motors } = options;
    const bus = await ServoBus.open(serialLine(port, baudRate), motors.protocol, monotonicClock);
    return new ServoLine(options, bus);
  }

  get isUp(): boolean {
    return this.#bus.isUp;
  }

  /** The joints move freely, the gripper is held open by a spring-like current. */
  async prepare(): Promise<void> {
    const missing: number[] = [];
    for (const id of this.#ids) if (!(await this.#answers(id))) missing.push(id);
    if (missing.length > 0)
      throw new TeleopError('robot-silent', `the leader's motors ${missing.join(', ')} do not answer`, {
        hint: 'Check its power, `--motors` and `--baud`; lerobot sets these motors to 1000000.',
      });
    await this.#relax();
    const { springMa, gripper } = this.#options;
    if (springMa === 0) return;
    const id = this.#ids.at(-1)!;
    await write(this.#bus, id, REGISTER.operatingMode, MODE.currentBasedPosition);
    await write(this.#bus, id, REGISTER.goalCurrent, springMa);
    await write(this.#bus, id, REGISTER.torqueEnable, 1);
    await write(this.#bus, id, REGISTER.goalPosition, gripper.openTicks);
  }

  every(hz: number, turn: (nowNs: number) => void): void {
    this.#bus.every(hz, turn);
  }

  async read(): Promise<boolean> {
    const { motors, gripper } = this.#options;
    const found = await syncRead(this.#bus, this.#ids, motors.presentPosition);
    if (!this.#ids.every((id) => found.has(id))) return false;
    this.#jointIds.forEach((id, i) => {
      this.#raw[i] = found.get(id)!;
      this.jointsRad[i] = leaderRad(motors.ticks(this.#raw[i]!, i));
    });
    const last = this.#jointIds.length;
    this.open = leaderOpen(motors.ticks(found.get(this.#ids[last]!)!, last), gripper);
    return true;
  }

  async begin(): Promise<boolean> {
    this.#hasTorque = true;
    const { motors } = this.#options;
    const found = await syncRead(this.#bus, this.#jointIds, motors.presentPosition);
    await motors.torque.begin(
      this.#bus,
      this.#jointIds,
      this.#jointIds.map((id) => found.get(id) ?? 0),
    );
    return true;
  }

  async apply(torquesNm: Float64Array): Promise<void> {
    await this.#options.motors.torque.apply(this.#bus, this.#jointIds, this.#raw, torquesNm);
  }

  async lose(): Promise<void> {
    if (this.#hasTorque) await this.apply(this.#zeroNm);
  }

  async release(): Promise<void> {
    if (!this.#bus.isUp) return;
    if (this.#hasTorque) await this.#options.motors.torque.end(this.#bus, this.#jointIds);
    await this.#relax();
  }

  close(): void {
    this.#bus.close();
  }

  async #relax(): Promise<void> {
    await syncWrite(this.#bus, this.#ids, this.#options.motors.torqueEnable, 0);
  }

  async #answers(id: number): Promise<boolean> {
    for (let i = 0; i < PINGS; i++) if ((await ping(this.#bus, id)) !== null) return true;
    return false;
  }
}
