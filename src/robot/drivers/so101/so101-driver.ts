import { NS_PER_MS } from '../../../core/time/clock.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { STS } from '../../buses/feetech/sts3215.ts';
import { syncWrite } from '../../buses/servo/operations.ts';
import type { ServoBus } from '../../buses/servo/servo-bus.ts';
import type { Driver, JointReading } from '../../driver.ts';
import { MOTORS } from './calibration-file.ts';
import type { So101Config } from './config.ts';
import { ArmCycle } from './cycle.ts';
import { IDS, powerOn } from './prepare.ts';
import type { JointSteps } from './steps.ts';

const JOINTS = 5;
const GRIPPER = 5;
const CYCLE_HZ = 200;
/** Twice the fastest joint's limit, over at most `MAX_STEP_NS`. */
const MAX_STEP_RAD_S = 8;
const MIN_STEP_NS = 4e6;
const MAX_STEP_NS = 40e6;
/** The first target after enabling must be near the arm. */
const FIRST_STEP_RAD = 0.1;
const MAX_MISSED = 4;
const LOOP_SILENCE_NS = 200 * NS_PER_MS;
/** Stall torque at 7.4 V, and the distance of the jaw's tip from its axis. Estimates. */
const STALL_NM = 1.6;
const JAW_M = 0.09;

type Phase = 'off' | 'enabling' | 'enabled';

/** Six servos. They have no watchdog: without us they hold the last goal, at most one step away. */
export class So101Driver implements Driver {
  readonly #bus: ServoBus;
  readonly #config: So101Config;
  readonly #map: readonly JointSteps[];
  readonly #cycle: ArmCycle;
  readonly #target = new Float64Array(JOINTS);
  #abort = new AbortController();
  #preparing: Promise<void> = Promise.resolve();
  #phase: Phase = 'off';
  #fault = '';
  #alarm = false;
  #failed = false;
  #hasTarget = false;
  /** Servos are powered: after a stop they hold. */
  #powered = false;
  #writtenNs = 0;
  #calledNs = 0;
  #disposed = false;

  constructor(bus: ServoBus, config: So101Config, map: readonly JointSteps[]) {
    this.#bus = bus;
    this.#config = config;
    this.#map = map;
    this.#cycle = new ArmCycle(bus, IDS, (complete) => this.#onCycle(complete));
    bus.every(CYCLE_HZ, (nowNs) => this.#turn(nowNs));
  }

  get fault(): string {
    return this.#fault;
  }

  get busErrors(): number {
    const { timeouts, unexpected, lost } = this.#bus.stats;
    return timeouts + unexpected + lost;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#alarm = false;
    this.#calledNs = nowNs;
    if (this.#phase === 'enabled') return 'ok';
    if (this.#phase === 'enabling') return 'stale';
    if (this.#failed) {
      this.#failed = false;
      return 'fault';
    }
    this.#phase = 'enabling';
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    // One that was interrupted may still be at a servo.
    this.#preparing = this.#preparing.then(() => this.#enable(signal));
    return 'stale';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#calledNs = nowNs;
    const { steps, speeds, loads, feedbackNs } = this.#cycle;
    out.robotNs = Math.min(feedbackNs, nowNs);
    for (let i = 0; i < JOINTS; i++) {
      const map = this.#map[i]!;
      out.positionsRad[i] = map.toRad(steps[i]!);
      out.velocitiesRadS[i] = speeds[i]! * map.signedRadPerStep;
      out.effortsNm[i] = Math.sign(map.signedRadPerStep) * (loads[i]! / 1000) * STALL_NM;
    }
    out.gripper = this.#map[GRIPPER]!.toClosed(steps[GRIPPER]!);
    out.gripperN = (Math.abs(loads[GRIPPER]!) / 1000) * (STALL_NM / JAW_M);
    if (this.#alarm) return 'fault';
    return Number.isNaN(feedbackNs) || this.#cycle.missed > MAX_MISSED ? 'stale' : 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#disposed || this.#alarm) return 'fault';
    if (this.#phase !== 'enabled') return this.#fault === '' ? 'ok' : 'fault';
    const sinceNs = Math.max(MIN_STEP_NS, Math.min(nowNs - this.#writtenNs, MAX_STEP_NS));
    const roomRad = this.#hasTarget ? (MAX_STEP_RAD_S * sinceNs) / 1e9 : FIRST_STEP_RAD;
    for (let i = 0; i < JOINTS; i++) {
      const from = this.#hasTarget ? this.#target[i]! : this.#map[i]!.toRad(this.#cycle.steps[i]!);
      if (Math.abs(positionsRad[i]! - from) <= roomRad) continue;
      this.#fail(`step of ${MOTORS[i]} rejected: more than ${roomRad.toFixed(3)} rad at once`);
      return 'fault';
    }
    this.#target.set(positionsRad);
    for (let i = 0; i < JOINTS; i++) this.#cycle.goals[i] = this.#map[i]!.toSteps(positionsRad[i]!);
    this.#cycle.goals[GRIPPER] = this.#map[GRIPPER]!.fromClosed(Math.max(0, Math.min(1, gripper)));
    this.#hasTarget = true;
    this.#writtenNs = nowNs;
    return this.#bus.isUp ? 'ok' : 'stale';
  }

  stop(_nowNs: number): void {
    this.#alarm = false;
    this.#failed = false;
    this.#release();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#release();
    this.#disposed = true;
    if (this.#config.releaseAtEnd) void syncWrite(this.#bus, IDS, STS.torqueEnable, 0);
    this.#bus.close();
  }

  /** The joints hold where they are, with torque: without it the arm would fall. The gripper keeps its goal. */
  #release(): void {
    this.#abort.abort();
    const wasMoving = this.#phase === 'enabled' && this.#hasTarget;
    this.#phase = 'off';
    this.#hasTarget = false;
    if (!wasMoving || this.#disposed) return;
    const { goals, steps } = this.#cycle;
    const hold = IDS.map((_, i) => (i === GRIPPER ? goals[i]! : steps[i]!));
    void syncWrite(this.#bus, IDS, STS.goalPosition, hold);
  }

  #fail(why: string): void {
    this.#fault = why;
    if (this.#phase === 'off') return;
    if (this.#phase === 'enabling') this.#failed = true;
    else this.#alarm = true;
    this.#release();
  }

  async #enable(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      await powerOn(this.#bus, this.#config, signal);
      if (signal.aborted) return;
      this.#powered = true;
      this.#fault = '';
      this.#cycle.missed = 0;
      this.#phase = 'enabled';
    } catch (error) {
      if (!signal.aborted) this.#fail((error as Error).message);
    }
  }

  #turn(nowNs: number): void {
    if (this.#disposed) return;
    if (this.#phase === 'enabled' && nowNs - this.#calledNs > LOOP_SILENCE_NS)
      this.#fail('control loop silent for 200 ms');
    if (!this.#bus.isUp) this.#fail(`the servo bus is lost: ${this.#bus.trouble}`);
    else this.#cycle.begin(nowNs, this.#phase === 'enabled' && this.#hasTarget);
  }

  #onCycle(complete: boolean): void {
    if (this.#cycle.missed > MAX_MISSED) this.#fail('the servos do not reply');
    if (!complete || !this.#powered) return;
    const { temperaturesC } = this.#cycle;
    for (let i = 0; i < temperaturesC.length; i++)
      if (temperaturesC[i]! > this.#config.maxTemperatureC)
        this.#fail(`servo of ${MOTORS[i]} is at ${temperaturesC[i]} °C: let it cool`);
  }
}
