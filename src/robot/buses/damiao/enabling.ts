import type { CanBus } from '../can.ts';
import type { CanFrame } from '../can-frame.ts';
import type { MotorSpec } from './arm-spec.ts';
import type { DamiaoCommands } from './commands.ts';
import { type DamiaoFeedback, STATUS, statusFault } from './feedback.ts';
import { CONTROL_MODE, ORDER, orderFrame, REGISTER, readFrame, refreshFrame, writeFrame } from './frames.ts';
import type { DamiaoGripper } from './gripper-motor.ts';

const MS = 1e6;
/** The motors need 2 ms after an enable before the next frame. */
const STEP_NS = 4 * MS;
const TIMEOUT_NS = 3000 * MS;

/**
 * Powers every motor in place: clears its error, sets its control mode, enables it, and from its first
 * enabled feedback on holds the measured pose. Motors that already have power keep holding.
 */
export class Enabling {
  /** Why enabling failed; empty while it has not. */
  failure = '';
  readonly #bus: CanBus;
  readonly #motors: readonly MotorSpec[];
  readonly #feedback: DamiaoFeedback;
  readonly #commands: DamiaoCommands;
  readonly #gripper: DamiaoGripper | null;
  readonly #refresh: readonly CanFrame[];
  readonly #clear: readonly CanFrame[];
  readonly #enable: readonly CanFrame[];
  readonly #readMode: readonly CanFrame[];
  readonly #writeMode: readonly CanFrame[];
  readonly #held: Uint8Array;
  /** 1 for motors that this attempt has told to power up. */
  readonly powered: Uint8Array;
  readonly #out: CanFrame[] = [];
  #beganNs = 0;
  #sentNs = 0;

  constructor(
    bus: CanBus,
    motors: readonly MotorSpec[],
    fd: boolean,
    feedback: DamiaoFeedback,
    commands: DamiaoCommands,
    gripper: DamiaoGripper | null,
  ) {
    this.#bus = bus;
    this.#motors = motors;
    this.#feedback = feedback;
    this.#commands = commands;
    this.#gripper = gripper;
    this.#refresh = motors.map(({ id }) => refreshFrame(id, fd));
    this.#clear = motors.map(({ id }) => orderFrame(id, ORDER.clearError, fd));
    this.#enable = motors.map(({ id }) => orderFrame(id, ORDER.enable, fd));
    this.#readMode = motors.map(({ id }) => readFrame(id, REGISTER.controlMode, fd));
    this.#writeMode = motors.map(({ id, mode }) =>
      writeFrame(id, REGISTER.controlMode, CONTROL_MODE[mode], fd),
    );
    this.#held = new Uint8Array(motors.length);
    this.powered = new Uint8Array(motors.length);
  }

  /** `holding`: enabled motors hold their targets. */
  begin(nowNs: number, holding: boolean): void {
    this.#beganNs = nowNs;
    this.#sentNs = Number.NEGATIVE_INFINITY;
    this.failure = '';
    this.#gripper?.beginHoming();
    this.powered.fill(0);
    for (let i = 0; i < this.#motors.length; i++) {
      this.#feedback.forget(i, REGISTER.controlMode);
      this.#held[i] = holding && this.#feedback.status[i] === STATUS.enabled ? 1 : 0;
    }
  }

  /** Hot path. True once all have power and hold. */
  step(nowNs: number): boolean {
    if (nowNs - this.#sentNs < STEP_NS) return false;
    this.#sentNs = nowNs;
    this.#out.length = 0;
    let waiting = '';
    for (let i = 0; i < this.#motors.length; i++) {
      const frame = this.#next(i);
      if (frame !== this.#commands.frames[i]) waiting ||= this.#motors[i]!.name;
      this.#out.push(frame);
    }
    this.#commands.encode();
    const homed = waiting === '' && this.#home(nowNs);
    this.#bus.send(this.#out);
    if (waiting !== '' && nowNs - this.#beganNs > TIMEOUT_NS) this.failure ||= this.#whyNot();
    return homed && this.failure === '';
  }

  /** The frame this motor needs next; its own command once it has power. */
  #next(i: number): CanFrame {
    const { status, receivedNs } = this.#feedback;
    if (receivedNs[i]! <= this.#beganNs) return this.#refresh[i]!;
    if (status[i]! > STATUS.enabled) return this.#clear[i]!;
    const mode = this.#feedback.register(i, REGISTER.controlMode);
    if (mode === undefined) return this.#readMode[i]!;
    if (mode !== CONTROL_MODE[this.#motors[i]!.mode]) {
      if (status[i] === STATUS.enabled)
        this.failure = `${this.#motors[i]!.name} is already enabled in another control mode`;
      return this.#writeMode[i]!;
    }
    if (status[i] === STATUS.disabled) {
      this.#held[i] = 0;
      this.powered[i] = 1;
      return this.#enable[i]!;
    }
    if (this.#held[i] === 0) {
      this.#held[i] = 1;
      this.#commands.hold(i);
    }
    return this.#commands.frames[i]!;
  }

  #home(nowNs: number): boolean {
    const gripper = this.#gripper;
    if (gripper === null || gripper.homed) return true;
    if (gripper.seek(nowNs)) this.failure = 'the gripper found no end stop';
    return gripper.homed;
  }

  #whyNot(): string {
    for (let i = 0; i < this.#motors.length; i++) {
      const { name } = this.#motors[i]!;
      const fault = statusFault(this.#feedback.status[i]!);
      if (fault !== '') return `${name} ${fault}`;
      if (this.#feedback.receivedNs[i]! <= this.#beganNs) return `${name} does not reply`;
      if (this.#feedback.status[i] !== STATUS.enabled) return `${name} did not report that it is enabled`;
    }
    return 'the motors did not report that they are enabled';
  }
}
