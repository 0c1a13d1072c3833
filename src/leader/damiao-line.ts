// UNVERIFIED ON HARDWARE: tested on simulated motors only.

import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import { CanBus } from '../robot/buses/can.ts';
import type { CanFrame } from '../robot/buses/can-frame.ts';
import { type ArmFacts, armConfig, armSpec } from '../robot/buses/damiao/arm-config.ts';
import { DAMIAO_BITRATE } from '../robot/buses/damiao/arm-driver.ts';
import type { ArmSpec, MotorSpec } from '../robot/buses/damiao/arm-spec.ts';
import { OPENARM, VLAI_L1 } from '../robot/buses/damiao/arms.ts';
import { DamiaoFeedback, STATUS } from '../robot/buses/damiao/feedback.ts';
import {
  CONTROL_MODE,
  motorFrame,
  ORDER,
  orderFrame,
  REGISTER,
  readFrame,
  refreshFrame,
  setMit,
  writeFrame,
} from '../robot/buses/damiao/frames.ts';
import type { MotorType } from '../robot/buses/damiao/motors.ts';
import { identifyMotors } from '../robot/buses/damiao/open.ts';
import { canBackend } from '../robot/buses/open-can.ts';
import type { LeaderLine, MotorFacts } from './leader-line.ts';

const ANSWER_MS = 30;
const TRIES = 20;
/** The motors need 2 ms after an enable before the next frame. */
const STEP_MS = 4;
/**
 * A motor keeps its last command for ever, so a bare torque would run away with the arm if this process died. It
 * therefore pulls towards an angle this far ahead, with the stiffness that makes it the torque asked for.
 */
const REACH_RAD = 0.15;
/** Damping of a joint without torque whose neighbour is lost: a heavy arm sinks instead of dropping. */
const SINK_KD = 2;
/** Peak torques of the motors' maker. */
const PEAK_NM: Partial<Record<MotorType, number>> = { DM8009: 40, DM4340: 27, DM4310: 7 };
/** 16 bits over ±12.5 rad. */
const STEP_RAD = 25 / 65_535;

/** Arms of this structure whose leader is the same arm. */
export function damiaoLeaderFacts({ name }: RobotModel): ArmFacts {
  if (name.startsWith('openarm')) return OPENARM;
  if (name.startsWith('vlai-l1')) return VLAI_L1;
  throw new TeleopError('bad-option', `no leader of Damiao motors is known for "${name}"`, {
    hint: 'Use a rig of openarm or vlai-l1, or --model openarm.',
  });
}

export const damiaoMotorFacts = ({ motors }: ArmFacts): MotorFacts => ({
  stallNm: (joint) => PEAK_NM[motors[joint]!] ?? 0,
  stepRad: STEP_RAD,
});

/** A leader of Damiao motors on a CAN bus. Without torque they are asked where they are; with torque, too. */
export class DamiaoLine implements LeaderLine {
  readonly jointsRad: Float64Array;
  open = 1;
  readonly motors: readonly MotorSpec[];
  readonly feedback: DamiaoFeedback;
  readonly #spec: ArmSpec;
  readonly #model: RobotModel;
  readonly #refresh: readonly CanFrame[];
  readonly #disable: readonly CanFrame[];
  readonly #commands: readonly CanFrame[];
  #bus!: CanBus;
  /** Nobody else had powered these motors. */
  #isOurs = false;
  #hasTorque = false;

  private constructor(spec: ArmSpec, model: RobotModel) {
    this.#spec = spec;
    this.#model = model;
    this.motors = [...spec.joints, spec.gripper!.motor];
    this.feedback = new DamiaoFeedback(this.motors);
    this.#refresh = this.motors.map(({ id }) => refreshFrame(id, spec.fd));
    this.#disable = this.motors.map(({ id }) => orderFrame(id, ORDER.disable, spec.fd));
    this.#commands = spec.joints.map(({ id }) => motorFrame(id, spec.fd));
    this.jointsRad = new Float64Array(spec.joints.length);
  }

  /** `bus`: as the driver's setting, `socketcan:can0`. */
  static async open(bus: string, fd: boolean, model: RobotModel): Promise<DamiaoLine> {
    const config = armConfig(damiaoLeaderFacts(model)).parse({ bus, fd });
    const spec = armSpec(config, model);
    const line = new DamiaoLine(spec, model);
    const dataBitrate = fd ? spec.dataBitrate : undefined;
    line.#bus = await CanBus.open(
      canBackend(bus, DAMIAO_BITRATE, dataBitrate),
      {
        bitrate: DAMIAO_BITRATE,
        ...(dataBitrate && { dataBitrate }),
        onFrame: (frame) => line.feedback.take(frame, monotonicClock.nowNs()),
      },
      monotonicClock,
    );
    return line;
  }

  get isUp(): boolean {
    return this.#bus.isUp;
  }

  get bus(): CanBus {
    return this.#bus;
  }

  async prepare(): Promise<void> {
    await identifyMotors(this, this.#spec, this.#model);
    const powered = this.motors.filter((_, i) => this.feedback.status[i] === STATUS.enabled);
    // A follower on the wrong bus would drop.
    if (powered.length > 0)
      throw new TeleopError(
        'bus-failed',
        `${powered.map(({ name }) => name).join(', ')} on ${this.#bus.name} have power: another program drives this arm`,
        { hint: 'Check --port. If it is the leader, hold it, and switch it off and on.' },
      );
    this.#isOurs = true;
    await this.#free();
  }

  every(hz: number, turn: (nowNs: number) => void): void {
    this.#bus.every(1000 / hz, turn);
  }

  async read(): Promise<boolean> {
    if (!(await this.#exchange(this.#refresh))) return false;
    const { positionsRad, status } = this.feedback;
    const joints = this.jointsRad.length;
    for (let i = 0; i < joints; i++) {
      if (this.#hasTorque && status[i] !== STATUS.enabled) return false;
      this.jointsRad[i] = positionsRad[i]!;
    }
    const { openRad, closedRad } = this.#spec.gripper!;
    const open = (positionsRad[joints]! - closedRad) / (openRad - closedRad);
    this.open = Math.max(0, Math.min(1, open));
    return true;
  }

  async begin(): Promise<boolean> {
    this.#hasTorque = true;
    const { joints, fd } = this.#spec;
    for (let i = 0; i < joints.length; i++) this.feedback.forget(i, REGISTER.controlMode);
    for (let tries = 0; tries < TRIES && this.#bus.isUp; tries++) {
      const frames = joints.map(({ id }, i) => this.#towardsTorque(id, i, fd));
      if (frames.every((frame) => frame === null)) return true;
      this.#bus.send(frames.filter((frame) => frame !== null));
      await this.#bus.until(() => false, STEP_MS);
      await this.#exchange(this.#refresh);
    }
    return false;
  }

  apply(torquesNm: Float64Array): Promise<void> {
    const { limits, positionsRad } = this.feedback;
    for (let i = 0; i < this.#commands.length; i++) {
      const nm = torquesNm[i]!;
      const goalRad = positionsRad[i]! + Math.sign(nm) * REACH_RAD;
      setMit(this.#commands[i]!, limits[i]!, goalRad, 0, Math.abs(nm) / REACH_RAD, 0, 0);
    }
    this.#bus.send(this.#commands);
    return Promise.resolve();
  }

  lose(): Promise<void> {
    if (!this.#hasTorque) return Promise.resolve();
    this.#hasTorque = false;
    const { limits, positionsRad } = this.feedback;
    this.#commands.forEach((frame, i) => {
      setMit(frame, limits[i]!, positionsRad[i]!, 0, 0, SINK_KD, 0);
    });
    this.#bus.send(this.#commands);
    return Promise.resolve();
  }

  async release(): Promise<void> {
    this.#hasTorque = false;
    if (this.#isOurs && this.#bus.isUp) await this.#free();
  }

  close(): void {
    this.#bus.close();
  }

  /** The frame that motor `i` needs next to take torques; null if it does. */
  #towardsTorque(id: number, i: number, fd: boolean): CanFrame | null {
    const status = this.feedback.status[i]!;
    if (status > STATUS.enabled) return orderFrame(id, ORDER.clearError, fd);
    const mode = this.feedback.register(i, REGISTER.controlMode);
    if (mode === undefined) return readFrame(id, REGISTER.controlMode, fd);
    if (mode !== CONTROL_MODE.mit) return writeFrame(id, REGISTER.controlMode, CONTROL_MODE.mit, fd);
    return status === STATUS.enabled ? null : orderFrame(id, ORDER.enable, fd);
  }

  /** Without power the joints move freely. */
  async #free(): Promise<void> {
    const { status } = this.feedback;
    for (let tries = 0; tries < TRIES; tries++) {
      const hasAnswered = await this.#exchange(this.#disable);
      if (hasAnswered && status.every((each) => each !== STATUS.enabled)) return;
    }
  }

  /** Sends, and waits for a reply of every motor. */
  #exchange(frames: readonly CanFrame[]): Promise<boolean> {
    const sentNs = monotonicClock.nowNs();
    this.#bus.send(frames);
    return this.#bus.until(() => this.feedback.oldestNs(this.motors.length) >= sentNs, ANSWER_MS);
  }
}
