import type { Clock } from '../../../core/time/clock.ts';
import type { MotorHealth } from '../../../messages/motor-health.ts';
import type { TickStatus } from '../../../messages/robot-state.ts';
import { hardwareErrorText, REGISTER, TICKS_PER_TURN } from '../../buses/dynamixel/control-table.ts';
import { read, readBytes, write } from '../../buses/servo/operations.ts';
import type { ServoBus } from '../../buses/servo/servo-bus.ts';
import type { Driver, JointReading } from '../../driver.ts';
import type { OrcaConfig } from './config.ts';
import { HandCycle } from './cycle.ts';
import type { Hand } from './hands.ts';
import { HandHealth, HEALTH_BYTES, HEALTH_FROM } from './health.ts';
import type { JointMap } from './mapping.ts';
import { HandPreparation, Refused, watchdogUnits } from './prepare.ts';

const MS = 1e6;
/** Stale positions are a fault if the hand did not reply, or in any case after this many timeouts. */
const TOO_OLD = 4;
/** Cycles without a reply after which no more goals are sent. */
const BLIND_CYCLES = 2;
/** A stop is repeated because it is not acknowledged. */
const STOP_CYCLES = 10;
/** Interval, in cycles, at which one motor is checked: each of them about every two seconds. */
const HEALTH_CYCLES = 10;
const QUIET_MARGIN_MS = 60;
const GOODBYE_MS = 3;
const GOODBYES = 2;
/** Attempts to make an overloaded finger limp, or to read what a motor alerts about. */
const ATTEMPTS = 5;

type Phase = 'off' | 'preparing' | 'on';

/** An ORCA hand. Only `enable` gives torque, restarts a motor or ends a stop. */
export class OrcaDriver implements Driver {
  readonly cycle: HandCycle;
  readonly #bus: ServoBus;
  readonly #hand: Hand;
  readonly #map: JointMap;
  readonly #config: OrcaConfig;
  readonly #ids: readonly number[];
  readonly #lastTicks: Int32Array;
  #phase: Phase = 'off';
  #attempt = 0;
  /** Why the last attempt to enable failed, until reported. */
  #enableError = '';
  #fault = '';
  #unreported = false;
  #blind = false;
  #stopCycles = 0;
  #hasTorque = false;
  #alerted = false;
  readonly #health: HandHealth;
  #healthAt = 0;
  #mustRewrap = false;
  /** A stop arrived while the joint positions were unknown: hold the next ones measured. */
  #holdLater = false;
  /** Send nothing before this time. */
  #quietUntilNs = 0;
  #disposed = false;

  constructor(
    bus: ServoBus,
    hand: Hand,
    map: JointMap,
    config: OrcaConfig,
    canBeFast: boolean,
    clock: Clock,
  ) {
    this.#bus = bus;
    this.#hand = hand;
    this.#map = map;
    this.#config = config;
    this.#ids = hand.joints.map(({ motorId }) => motorId);
    this.#lastTicks = new Int32Array(this.#ids.length);
    this.#health = new HandHealth(hand, config);
    this.cycle = new HandCycle(bus, this.#ids, canBeFast, clock, {
      onFeedback: () => this.#onFeedback(),
      onOver: (nowNs) => this.#stopAtOnce(nowNs),
    });
    bus.every(config.cycleHz, (nowNs) => this.#turn(nowNs));
  }

  get health(): MotorHealth {
    return this.#health.motors;
  }

  get fault(): string {
    return this.#fault;
  }

  enable(nowNs: number): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    if (this.#blind) return this.#isDanger ? 'fault' : 'stale';
    if (this.#phase === 'on') return 'ok';
    if (this.#enableError !== '') {
      this.#raise(this.#enableError);
      this.#enableError = '';
      return 'fault';
    }
    if (this.#phase === 'off') {
      this.#phase = 'preparing';
      void this.#prepare(++this.#attempt);
    }
    return 'stale';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#disposed) return 'fault';
    this.#watch(nowNs);
    const { cycle } = this;
    if (cycle.feedbackNs > Number.NEGATIVE_INFINITY) {
      out.robotNs = cycle.feedbackNs;
      for (let i = 0; i < this.#ids.length; i++) {
        out.positionsRad[i] = this.#map.jointRad(i, cycle.ticks[i]!);
        out.velocitiesRadS[i] = this.#map.jointRadS(i, cycle.velocityUnits[i]!);
        out.effortsNm[i] = this.#map.jointNm(i, cycle.currentUnits[i]!);
      }
      out.gripper = 0;
    } else if (!this.#blind) return 'stale';
    if (this.#unreported || (this.#blind && this.#isDanger)) {
      this.#unreported = false;
      return 'fault';
    }
    return this.#blind ? 'stale' : 'ok';
  }

  write(_nowNs: number, positionsRad: Float64Array, _gripper: number): TickStatus {
    if (this.#disposed) return 'fault';
    if (this.#phase !== 'on') return this.#fault === '' ? 'ok' : 'fault';
    for (let i = 0; i < this.#ids.length; i++)
      if (!Number.isFinite(positionsRad[i])) {
        this.#raise('a target was not a number');
        return 'fault';
      }
    for (let i = 0; i < this.#ids.length; i++) this.cycle.goals[i] = this.#map.ticksOf(i, positionsRad[i]!);
    return 'ok';
  }

  /** Sent with the next packet, and repeated. */
  stop(nowNs: number): void {
    if (this.#disposed) return;
    this.#halt();
    this.#stopAtOnce(nowNs);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#halt();
    this.#disposed = true;
    void this.#goLimp();
  }

  #halt(): void {
    this.#phase = 'off';
    this.#attempt++;
    this.#enableError = '';
    this.#stopCycles = STOP_CYCLES;
    this.#holdLater = this.cycle.missed >= BLIND_CYCLES;
    if (!this.#holdLater) this.cycle.goals.set(this.cycle.ticks);
  }

  #stopAtOnce(nowNs: number): void {
    const isNew = this.#phase === 'off' && this.#stopCycles === STOP_CYCLES && this.#hasTorque;
    const mayBegin = !this.cycle.isBusy && !this.#disposed && nowNs >= this.#quietUntilNs;
    const lead = isNew && mayBegin ? this.#lead() : 'none';
    if (lead !== 'none') this.cycle.begin(nowNs, lead);
  }

  /** Goes limp. Not while motors reply: packets would collide. */
  async #goLimp(): Promise<void> {
    const preparation = new HandPreparation(this.#bus, this.#hand, () => {});
    if (this.#hasTorque)
      for (let i = 0; i < GOODBYES && this.#bus.isUp; i++) {
        await preparation.writeAll(REGISTER.torqueEnable, 0).catch(() => {});
        await this.#bus.pause(GOODBYE_MS);
      }
    this.#bus.close();
  }

  #turn(nowNs: number): void {
    if (this.#disposed || !this.#bus.isUp || nowNs < this.#quietUntilNs) return;
    const { busWatchdogMs } = this.#config;
    const silentMs = (nowNs - this.#bus.sentNs) / MS;
    if (this.#phase === 'on' && silentMs > watchdogUnits(busWatchdogMs) * 20)
      this.#raise(`the bus was silent for ${Math.round(silentMs)} ms: the motors’ watchdogs stopped them`);
    if (!this.cycle.begin(nowNs, this.#lead())) return;
    if (this.#phase !== 'preparing' && this.cycle.cycles % HEALTH_CYCLES === 0)
      void this.#checkHealth(this.#attempt);
  }

  #lead(): 'goals' | 'release' | 'none' {
    // Without position feedback the hand must not move.
    if (this.#phase === 'on') return this.cycle.missed < BLIND_CYCLES ? 'goals' : 'none';
    if (this.#phase === 'preparing' || !this.#hasTorque || this.#stopCycles === 0) return 'none';
    const holds = this.#config.onStop === 'hold';
    if (holds && this.#holdLater) return 'none';
    this.#stopCycles--;
    return holds ? 'goals' : 'release';
  }

  async #prepare(attempt: number): Promise<void> {
    const check = () => {
      if (attempt !== this.#attempt || this.#disposed) throw new Refused('stopped');
    };
    const { maxCurrentMa, maxMotorSpeedRadS, busWatchdogMs } = this.#config;
    const currentMa = Math.min(maxCurrentMa, this.#hand.maxCurrentMa);
    const preparation = new HandPreparation(this.#bus, this.#hand, check);
    try {
      await preparation.clearErrors((ids) => this.#excuse(ids));
      await preparation.configure({ currentMa, maxMotorSpeedRadS, busWatchdogMs });
      const ticks = await preparation.positions();
      const lost = this.#map.rewrap(ticks);
      if (lost !== '') throw new Refused(`${lost}: move it back by hand, or calibrate again`);
      this.#hasTorque = true;
      await preparation.power(ticks, busWatchdogMs);
      this.cycle.goals.set(ticks);
      this.#succeed();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (attempt !== this.#attempt) return;
      this.#phase = 'off';
      this.#enableError = error.message;
    }
  }

  /** A restarted motor resets its turn count. */
  #excuse(ids: readonly number[]): void {
    this.cycle.excuse(ids);
    this.#mustRewrap = true;
  }

  #succeed(): void {
    this.#phase = 'on';
    this.#fault = '';
    this.#unreported = false;
    this.#alerted = false;
    this.#health.reset();
    this.cycle.errors.fill(0);
  }

  /** Checks for anything that ends our control of the hand. */
  #watch(nowNs: number): void {
    const { feedbackTimeoutMs } = this.#config;
    const { feedbackNs, missed } = this.cycle;
    const ageMs = feedbackNs > Number.NEGATIVE_INFINITY ? (nowNs - feedbackNs) / MS : 0;
    const isSilent = ageMs > feedbackTimeoutMs && missed >= BLIND_CYCLES;
    const was = this.#blind && this.#isDanger;
    this.#blind = !this.#bus.isUp || isSilent || ageMs > TOO_OLD * feedbackTimeoutMs;
    if (!this.#blind || was || !this.#isDanger) return;
    this.#raise(this.#silenceText());
    // Without feedback we cannot stop the motors, but their watchdogs do when the bus is silent.
    if (this.#hasTorque && this.#config.onStop === 'hold')
      this.#quietUntilNs = nowNs + (this.#config.busWatchdogMs + QUIET_MARGIN_MS) * MS;
  }

  /** Limp motors do not move, so a short gap in feedback is no reason to latch a fault. */
  get #isDanger(): boolean {
    return this.#hasTorque || !this.#bus.isUp;
  }

  #silenceText(): string {
    if (!this.#bus.isUp) return `${this.#bus.name} is lost: ${this.#bus.trouble}`;
    const { silent } = this.cycle;
    const some = silent.length > 0 && silent.length < this.#ids.length;
    const who = some ? this.#namesOf(silent) : 'the hand';
    return `no positions from ${who} for ${this.#config.feedbackTimeoutMs} ms`;
  }

  #namesOf(ids: readonly number[]): string {
    return ids.map((id) => `${this.#hand.joints[this.#ids.indexOf(id)]!.name} (motor ${id})`).join(', ');
  }

  /** The others hold their position. */
  #raise(text: string): void {
    this.#fault = text;
    this.#unreported = true;
    this.#halt();
  }

  #onFeedback(): void {
    this.#lookForJumps();
    if (this.#holdLater) {
      this.#holdLater = false;
      if (this.#phase === 'off') this.cycle.goals.set(this.cycle.ticks);
    }
    if (this.#alerted || this.#disposed || this.#phase === 'preparing') return;
    this.#lookForOverload();
    for (let i = 0; i < this.#ids.length; i++)
      if (this.cycle.isAlert(i)) {
        this.#alerted = true;
        this.#health.stopped(i);
        this.#halt();
        void this.#diagnose(this.#ids[i]!);
        return;
      }
  }

  /** No motor turns half a turn in a cycle: one that appears to has lost its turn count. */
  #lookForJumps(): void {
    const { ticks } = this.cycle;
    let jumped = -1;
    for (let i = 0; i < ticks.length; i++) {
      if (Math.abs(ticks[i]! - this.#lastTicks[i]!) > TICKS_PER_TURN / 2) jumped = i;
      this.#lastTicks[i] = ticks[i]!;
    }
    if (jumped >= 0) {
      this.#mustRewrap = true;
      if (this.#phase === 'on')
        this.#raise(`${this.#namesOf([this.#ids[jumped]!])} has restarted: check its power supply`);
    }
    if (this.#mustRewrap) this.#mustRewrap = this.#map.rewrap(ticks) !== '';
  }

  /** A finger that pushes with all its current for too long yields before the motor shuts itself down. */
  #lookForOverload(): void {
    const overloaded = this.#health.onCurrents(this.cycle.currentUnits, this.cycle.feedbackNs);
    if (overloaded < 0 || this.#phase !== 'on') return;
    this.#health.stopped(overloaded);
    const name = this.#namesOf([this.#ids[overloaded]!]);
    this.#raise(`${name} was overloaded for ${this.#config.overloadMs} ms: it went limp, the others hold`);
    void this.#release(this.#ids[overloaded]!);
  }

  async #release(id: number): Promise<void> {
    for (let i = 0; i < ATTEMPTS && this.#bus.isUp; i++)
      if ((await write(this.#bus, id, REGISTER.torqueEnable, 0)) === 0) return;
  }

  /** The hand holds already; the supervisor keeps the first cause it gets, so the motor is asked before. */
  async #diagnose(id: number): Promise<void> {
    let flags: number | null = null;
    for (let i = 0; i < ATTEMPTS && flags === null && this.#bus.isUp; i++)
      flags = await read(this.#bus, id, REGISTER.hardwareError);
    if (this.#disposed || !this.#alerted) return;
    this.#raise(`${this.#namesOf([id])}: ${hardwareErrorText(flags ?? 0) || 'hardware alert'}`);
  }

  async #checkHealth(attempt: number): Promise<void> {
    const i = this.#healthAt++ % this.#ids.length;
    const id = this.#ids[i]!;
    const answer = await readBytes(this.#bus, id, HEALTH_FROM, HEALTH_BYTES);
    if (answer === null || answer.data.length !== HEALTH_BYTES) return;
    if (attempt !== this.#attempt || this.#phase === 'preparing') return;
    const trouble = this.#health.onMotor(i, answer.data);
    if (trouble !== '' && this.#phase === 'on') this.#raise(`${this.#namesOf([id])} ${trouble}`);
  }
}
