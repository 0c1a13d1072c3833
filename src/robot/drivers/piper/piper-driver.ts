import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { type CanBackend, CanBus } from '../../buses/can.ts';
import type { Driver, JointReading } from '../../driver.ts';
import { PiperCommands } from './commands.ts';
import type { PiperConfig } from './config.ts';
import { controlFault, driverFault, isTargetStatus, statusFault } from './faults.ts';
import { GRIPPER_RADIUS_M, nmPerA, PiperFeedback } from './feedback.ts';
import {
  enableFrame,
  GRIPPER,
  ID,
  MOVE,
  PIPER_BITRATE,
  piperFrame,
  resumeFrame,
  setGripper,
  stopFrame,
} from './frames.ts';

const MS = 1e6;
const ENABLE_EVERY_NS = 10 * MS;
const ENABLE_TIMEOUT_NS = 3000 * MS;
/** Driver reports arrive at 40 Hz; those in flight at our request show the state before it. */
const OLD_REPORT_NS = 30 * MS;
/** The arm first cuts its power and clears its flags. */
const RESUME_NS = 100 * MS;
/** Time until the mode and target we sent show in the status. */
const SETTLE_NS = 300 * MS;
/** Repeat the target at this interval, in case a frame was lost. */
const REPEAT_NS = 20 * MS;
/** Stale reads tolerated before a fault: a busy thread must first process what has arrived. */
const OLD_READS = 3;
const MAX_REJECTED_CYCLES = 20;

type Phase = 'off' | 'resuming' | 'enabling' | 'on';

/** One arm as a follower. Only `enable` powers it or ends a stop. */
export class PiperDriver implements Driver {
  readonly feedback = new PiperFeedback();
  readonly #config: PiperConfig;
  readonly #clock: Clock;
  readonly #commands: PiperCommands;
  readonly #stop = [stopFrame()];
  readonly #resume = [resumeFrame()];
  readonly #enable = [enableFrame(true)];
  readonly #gripperClear = piperFrame(ID.gripper);
  #bus!: CanBus;
  #phase: Phase = 'off';
  #fault = '';
  /** Whether a read has reported the fault yet. */
  #unreported = false;
  /** The bus is down or the arm is silent. */
  #blind = false;
  #mustResume = false;
  #stopPending = false;
  #disposed = false;
  #beganNs = 0;
  #phaseNs = 0;
  #sentNs = 0;
  #oldReads = 0;
  #rejectedCycles = 0;

  private constructor(config: PiperConfig, model: RobotModel, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
    this.#commands = new PiperCommands(config, model);
  }

  static async connect(
    config: PiperConfig,
    model: RobotModel,
    clock: Clock,
    backend: CanBackend,
  ): Promise<PiperDriver> {
    const driver = new PiperDriver(config, model, clock);
    const events = {
      bitrate: PIPER_BITRATE,
      onFrame: (frame: Parameters<PiperFeedback['take']>[0]) => driver.feedback.take(frame, clock.nowNs()),
      onLost: () => driver.#onLost(),
      onBack: () => driver.#onBack(),
    };
    driver.#bus = await CanBus.open(backend, events, clock);
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
    if (this.#phase === 'off') this.#begin(nowNs);
    if (nowNs - this.#beganNs > ENABLE_TIMEOUT_NS) return this.#giveUp();
    if (this.#phase === 'resuming') this.#awaitResumed(nowNs);
    if (this.#phase === 'enabling') this.#awaitEnabled(nowNs);
    return (this.#phase as Phase) === 'on' ? 'ok' : 'stale';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    const { feedback } = this;
    if (feedback.jointsNs > Number.NEGATIVE_INFINITY) {
      out.robotNs = feedback.jointsNs;
      out.positionsRad.set(feedback.positionsRad);
      out.velocitiesRadS.set(feedback.velocitiesRadS);
      for (let i = 0; i < out.effortsNm.length; i++) out.effortsNm[i] = feedback.currentsA[i]! * nmPerA(i);
      out.gripperN = Math.abs(feedback.gripperNm) / GRIPPER_RADIUS_M;
      out.gripper = Math.max(0, Math.min(1, 1 - feedback.gripperM / this.#config.gripperStrokeM));
    } else if (!this.#blind) return 'stale';
    if (this.#stopPending && this.#bus.isUp) this.stop(nowNs);
    if (this.#blind || this.#unreported) {
      this.#unreported = false;
      return 'fault';
    }
    if (this.#phase === 'on' && nowNs - this.#sentNs > REPEAT_NS) this.#send(nowNs);
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    if (this.#phase !== 'on') return this.#fault === '' ? 'ok' : 'fault';
    if (!this.#commands.aim(positionsRad, gripper)) {
      this.#raise('a target was not a number');
      return 'fault';
    }
    return this.#send(nowNs);
  }

  stop(_nowNs: number): void {
    if (this.#disposed) return;
    this.#phase = 'off';
    this.#mustResume = true;
    this.#stopPending = !this.#bus.sendUrgent(this.#stop);
  }

  dispose(): void {
    if (this.#disposed) return;
    if (this.#phase !== 'off') this.stop(this.#clock.nowNs());
    this.#disposed = true;
    this.#bus.close();
  }

  #send(nowNs: number): TickStatus {
    this.#sentNs = nowNs;
    if (this.#bus.send(this.#commands.frames)) {
      this.#rejectedCycles = 0;
      return 'ok';
    }
    if (++this.#rejectedCycles < MAX_REJECTED_CYCLES) return 'stale';
    this.#raise(`${this.#bus.name} no longer accepts frames`);
    return 'fault';
  }

  #begin(nowNs: number): void {
    this.#beganNs = nowNs;
    this.#phaseNs = nowNs;
    this.#stopPending = false;
    const { armStatus, moveMode, controlMode } = this.feedback;
    const inTeach = controlMode === 2 || controlMode === 6;
    const isLatched = armStatus !== 0 && !isTargetStatus(armStatus);
    if (this.#mustResume || isLatched || moveMode === MOVE.mit || inTeach) {
      // The one place where the arm may drop: the operator reset and armed it.
      this.#bus.send(this.#resume);
      this.#phase = 'resuming';
    } else this.#startEnabling(nowNs);
  }

  #startEnabling(nowNs: number): void {
    this.#phase = 'enabling';
    this.#phaseNs = nowNs;
    this.#sentNs = Number.NEGATIVE_INFINITY;
  }

  #awaitResumed(nowNs: number): void {
    const { statusNs, armStatus } = this.feedback;
    if (statusNs <= this.#phaseNs + RESUME_NS || armStatus !== 0) return;
    this.#mustResume = false;
    this.#startEnabling(nowNs);
  }

  #awaitEnabled(nowNs: number): void {
    const { feedback } = this;
    if (feedback.driversNs > this.#phaseNs + OLD_REPORT_NS && feedback.allEnabled) {
      const strokeM = Math.max(0, feedback.gripperM);
      setGripper(this.#gripperClear, strokeM, this.#config.gripperTorqueNm, GRIPPER.disableAndClear);
      this.#bus.send([this.#gripperClear]);
      this.#commands.hold(feedback.positionsRad, strokeM);
      this.#phase = 'on';
      this.#phaseNs = nowNs;
      this.#fault = '';
      this.#unreported = false;
      this.#rejectedCycles = 0;
      this.#send(nowNs);
    } else if (nowNs - this.#sentNs >= ENABLE_EVERY_NS) {
      this.#sentNs = nowNs;
      this.#bus.send(this.#enable);
    }
  }

  #giveUp(): TickStatus {
    const resuming = this.#phase === 'resuming';
    const own = statusFault(this.feedback) || driverFault(this.feedback, !resuming);
    this.#raise(own || 'the joints did not report that they are enabled');
    return 'fault';
  }

  /** Checks for anything that ends our control of the arm. */
  #watch(nowNs: number): void {
    const { feedbackTimeoutMs } = this.#config;
    const isOld = nowNs - this.feedback.jointsNs > feedbackTimeoutMs * MS;
    this.#oldReads = isOld ? this.#oldReads + 1 : 0;
    const was = this.#blind;
    this.#blind = !this.#bus.isUp || this.#oldReads >= OLD_READS;
    if (this.#blind && !was)
      this.#raise(
        this.#bus.isUp
          ? `no joint angles from the arm for ${feedbackTimeoutMs} ms${this.#lastBusError()}`
          : `${this.#bus.name} is lost: ${this.#bus.trouble}`,
      );
    if (this.#phase !== 'on') return;
    const settled = nowNs - this.#phaseNs > SETTLE_NS;
    const old = !settled && isTargetStatus(this.feedback.armStatus);
    const fault =
      (old ? '' : statusFault(this.feedback)) ||
      driverFault(this.feedback, true) ||
      (settled ? controlFault(this.feedback) : '');
    if (fault !== '') this.#raise(fault);
  }

  #lastBusError(): string {
    const { lastError } = this.#bus.stats;
    return lastError === '' ? '' : `; last bus error: ${lastError}`;
  }

  #raise(text: string): void {
    this.#fault = text;
    this.#phase = 'off';
    this.#unreported = true;
  }

  #onLost(): void {
    if (this.#disposed) return;
    // Its state is unknown, so send a stop as soon as the bus is back.
    if (this.#phase !== 'off') this.#stopPending = true;
    this.#raise(`${this.#bus.name} is lost: ${this.#bus.trouble}`);
  }

  #onBack(): void {
    if (this.#stopPending) this.stop(this.#clock.nowNs());
  }
}
