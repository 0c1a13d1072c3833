import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import type { Driver, JointReading } from '../../driver.ts';
import { type CanBackend, CanBus } from '../can.ts';
import type { CanFrame } from '../can-frame.ts';
import type { ArmSpec, MotorSpec } from './arm-spec.ts';
import { DamiaoCommands } from './commands.ts';
import { Enabling } from './enabling.ts';
import { DamiaoFeedback, STATUS, statusFault } from './feedback.ts';
import { ORDER, orderFrame, refreshFrame } from './frames.ts';
import { DamiaoGripper } from './gripper-motor.ts';

const MS = 1e6;
/** The motors send only when polled: without writes, poll them at this interval. */
const POLL_MS = 5;
const POLL_NS = 6 * MS;
/** Without a newer target for this long, its velocity counts as zero. */
const STILL_NS = 15 * MS;
/** Stale reads tolerated before a fault: a busy thread must first process what has arrived. */
const OLD_READS = 3;
const MAX_REJECTED_CYCLES = 20;
export const DAMIAO_BITRATE = 1_000_000;

type Phase = 'off' | 'enabling' | 'on' | 'holding';

/**
 * One arm of Damiao motors. Only `enable` powers them; a stop keeps the arm up unless configured otherwise.
 */
export class DamiaoArmDriver implements Driver {
  readonly feedback: DamiaoFeedback;
  readonly motors: readonly MotorSpec[];
  readonly #spec: ArmSpec;
  readonly #model: RobotModel;
  readonly #clock: Clock;
  readonly #commands: DamiaoCommands;
  readonly #gripper: DamiaoGripper | null;
  readonly #refresh: readonly CanFrame[];
  readonly #disable: readonly CanFrame[];
  #bus!: CanBus;
  #enabling!: Enabling;
  #phase: Phase = 'off';
  #fault = '';
  /** Whether a read has reported the fault yet. */
  #unreported = false;
  #blind = false;
  #mustDisable = false;
  /** Frames that cut the power: of all motors, or of those we powered. */
  #letGo: readonly CanFrame[];
  #fromHold = false;
  #disposed = false;
  #sentNs = Number.NEGATIVE_INFINITY;
  #writtenNs = Number.NEGATIVE_INFINITY;
  #oldReads = 0;
  #rejectedCycles = 0;

  private constructor(spec: ArmSpec, model: RobotModel, clock: Clock) {
    this.#spec = spec;
    this.#model = model;
    this.#clock = clock;
    this.motors = spec.gripper === null ? spec.joints : [...spec.joints, spec.gripper.motor];
    this.feedback = new DamiaoFeedback(this.motors);
    this.#commands = new DamiaoCommands(spec, this.motors, this.feedback);
    this.#gripper =
      spec.gripper === null
        ? null
        : new DamiaoGripper(spec.gripper, spec.joints.length, this.feedback, this.#commands);
    this.#refresh = this.motors.map(({ id }) => refreshFrame(id, spec.fd));
    this.#disable = this.motors.map(({ id }) => orderFrame(id, ORDER.disable, spec.fd));
    this.#letGo = this.#disable;
  }

  static async connect(
    spec: ArmSpec,
    model: RobotModel,
    clock: Clock,
    backend: CanBackend,
  ): Promise<DamiaoArmDriver> {
    const driver = new DamiaoArmDriver(spec, model, clock);
    const events = {
      bitrate: DAMIAO_BITRATE,
      dataBitrate: spec.fd ? spec.dataBitrate : DAMIAO_BITRATE,
      onFrame: (frame: CanFrame) => driver.feedback.take(frame, clock.nowNs()),
      onLost: () => driver.#onLost(),
    };
    driver.#bus = await CanBus.open(backend, events, clock);
    driver.#enabling = new Enabling(
      driver.#bus,
      driver.motors,
      spec.fd,
      driver.feedback,
      driver.#commands,
      driver.#gripper,
    );
    driver.#bus.every(POLL_MS, (nowNs) => driver.#poll(nowNs));
    return driver;
  }

  get bus(): CanBus {
    return this.#bus;
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    return this.#bus.stats.errors + this.feedback.rejected;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    if (this.#blind) return 'fault';
    if (this.#phase === 'on') return 'ok';
    if (this.#phase !== 'enabling') this.#begin(nowNs);
    const done = this.#enabling.step(nowNs);
    if (this.#enabling.failure !== '') return this.#giveUp();
    if (!done) return 'stale';
    this.#phase = 'on';
    this.#fault = '';
    this.#unreported = false;
    this.#rejectedCycles = 0;
    this.#sentNs = nowNs;
    return 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    const joints = this.#spec.joints.length;
    const receivedNs = this.feedback.oldestNs(joints);
    if (receivedNs > Number.NEGATIVE_INFINITY) {
      out.robotNs = receivedNs;
      for (let i = 0; i < joints; i++) {
        const { direction, offsetRad } = this.#spec.joints[i]!;
        out.positionsRad[i] = direction * (this.feedback.positionsRad[i]! - offsetRad);
        out.velocitiesRadS[i] = direction * this.feedback.velocitiesRadS[i]!;
        out.effortsNm[i] = direction * this.feedback.torquesNm[i]!;
      }
      out.gripper = this.#gripper?.share ?? 0;
    } else if (!this.#blind) return 'stale';
    if (!this.#blind && !this.#unreported) return 'ok';
    this.#unreported = false;
    return 'fault';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    if (this.#phase !== 'on') return this.#fault === '' ? 'ok' : 'fault';
    if (!this.#aim(nowNs, positionsRad) || !Number.isFinite(gripper)) {
      this.#raise('a target was not a number');
      return 'fault';
    }
    this.#gripper?.aim(gripper);
    this.#writtenNs = nowNs;
    return this.#send(nowNs);
  }

  stop(_nowNs: number): void {
    if (this.#disposed) return;
    if (this.#phase === 'on' || this.#phase === 'enabling') this.#rest();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.stop(this.#clock.nowNs());
    this.#disposed = true;
    this.#bus.close();
  }

  /** Clamps the target to the model's range; false if it is not a valid target. */
  #aim(nowNs: number, positionsRad: Float64Array): boolean {
    const joints = this.#spec.joints.length;
    for (let i = 0; i < joints; i++) if (!Number.isFinite(positionsRad[i]!)) return false;
    const dtS = (nowNs - this.#writtenNs) / 1e9;
    const follows = this.#spec.feedForward && dtS > 0.5e-3 && dtS < STILL_NS / 1e9;
    for (let i = 0; i < joints; i++) {
      const { minRad, maxRad, maxVelocityRadS } = this.#model.joints[i]!;
      const { direction, offsetRad } = this.#spec.joints[i]!;
      const inside = Math.max(minRad, Math.min(maxRad, positionsRad[i]!));
      const target = direction * inside + offsetRad;
      const velocity = follows ? (target - this.#commands.targetsRad[i]!) / dtS : 0;
      this.#commands.velocitiesRadS[i] = Math.max(-maxVelocityRadS, Math.min(maxVelocityRadS, velocity));
      this.#commands.targetsRad[i] = target;
    }
    return true;
  }

  #send(nowNs: number): TickStatus {
    this.#sentNs = nowNs;
    this.#commands.encode(this.#phase === 'holding' && this.#spec.onStop === 'damp');
    if (this.#bus.send(this.#commands.frames)) {
      this.#rejectedCycles = 0;
      return 'ok';
    }
    if (++this.#rejectedCycles < MAX_REJECTED_CYCLES) return 'stale';
    if (this.#phase === 'on') this.#raise(`${this.#bus.name} no longer accepts frames`);
    return 'fault';
  }

  /** Keeps feedback flowing and repeats the last command. */
  #poll(nowNs: number): void {
    if (nowNs - this.#sentNs < POLL_NS || this.#phase === 'enabling' || !this.#bus.isUp) return;
    if (this.#phase === 'off') {
      this.#sentNs = nowNs;
      this.#bus.send(this.#mustDisable ? this.#letGo : this.#refresh);
      if (this.#mustDisable && this.#hasLetGo()) this.#mustDisable = false;
    } else {
      if (nowNs - this.#writtenNs > STILL_NS) this.#commands.velocitiesRadS.fill(0);
      this.#send(nowNs);
    }
  }

  #hasLetGo(): boolean {
    for (let i = 0; i < this.motors.length; i++)
      if (this.#letGo[i] === this.#disable[i] && this.feedback.status[i] === STATUS.enabled) return false;
    return true;
  }

  #begin(nowNs: number): void {
    this.#fromHold = this.#phase === 'holding';
    this.#mustDisable = false;
    this.#writtenNs = Number.NEGATIVE_INFINITY;
    this.#enabling.begin(nowNs, this.#fromHold && this.#spec.onStop === 'hold');
    this.#phase = 'enabling';
  }

  #giveUp(): TickStatus {
    const { failure } = this.#enabling;
    if (!this.#fromHold) {
      // Motors we powered lose power again; motors powered by someone else keep it: they may carry the arm.
      this.#phase = 'off';
      this.#letGo = this.#disable.map((frame, i) =>
        this.#enabling.powered[i] === 1 ? frame : this.#refresh[i]!,
      );
      this.#mustDisable = true;
    }
    this.#raise(failure);
    return 'fault';
  }

  /** Checks for anything that ends our control of the arm. */
  #watch(nowNs: number): void {
    const { feedbackTimeoutMs } = this.#spec;
    const isOld = nowNs - this.feedback.oldestNs(this.motors.length) > feedbackTimeoutMs * MS;
    this.#oldReads = isOld ? this.#oldReads + 1 : 0;
    const was = this.#blind;
    this.#blind = !this.#bus.isUp || this.#oldReads >= OLD_READS;
    if (this.#blind && !was) this.#raise(this.#bus.isUp ? this.#silence(nowNs) : this.#lost());
    if (this.#phase === 'on' || (this.#phase === 'holding' && this.#fault === '')) this.#watchMotors();
  }

  #watchMotors(): void {
    for (let i = 0; i < this.motors.length; i++) {
      const status = this.feedback.status[i]!;
      if (status === STATUS.enabled) continue;
      const fault = statusFault(status) || 'lost its power';
      this.#raise(`${this.motors[i]!.name} ${fault}`);
      return;
    }
  }

  #silence(nowNs: number): string {
    const { feedbackTimeoutMs } = this.#spec;
    const { lastError } = this.#bus.stats;
    const silent = this.motors.filter(
      (_, i) => nowNs - this.feedback.receivedNs[i]! > feedbackTimeoutMs * MS,
    );
    const names = silent.map(({ name }) => name).join(', ');
    const trouble = lastError === '' ? '' : `; last bus error: ${lastError}`;
    return `no reply from ${names} for ${feedbackTimeoutMs} ms${trouble}`;
  }

  #lost(): string {
    return `${this.#bus.name} is lost: ${this.#bus.trouble}`;
  }

  #raise(text: string): void {
    this.#fault = text;
    this.#unreported = true;
    if (this.#phase === 'on' || this.#phase === 'enabling') this.#rest();
  }

  #rest(): void {
    if (this.#spec.onStop === 'disable') {
      this.#phase = 'off';
      this.#letGo = this.#disable;
      this.#mustDisable = true;
      this.#bus.sendUrgent(this.#disable);
      return;
    }
    this.#phase = 'holding';
    for (let i = 0; i < this.motors.length; i++) this.#commands.hold(i);
    this.#commands.encode(this.#spec.onStop === 'damp');
    this.#bus.sendUrgent(this.#commands.frames);
  }

  #onLost(): void {
    if (!this.#disposed) this.#raise(this.#lost());
  }
}
