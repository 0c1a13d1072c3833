import { z } from 'zod';
import { NS_PER_MS } from '../../core/clock.ts';
import type { Counters, Reason } from '../../core/counters.ts';
import type { JointCommand, SupervisorState } from '../../core/messages.ts';
import type { RobotModel } from '../../core/robot-model.ts';
import { type Driver, emptyReading, type JointReading } from '../driver.ts';
import { TargetLimiter } from './limiter.ts';
import { POWERED, type SupervisorEvent, TRANSITIONS } from './states.ts';

export const supervisorConfig = z.strictObject({
  speedPercent: z
    .number()
    .min(1)
    .max(100)
    .default(100)
    .describe('share of the model’s joint velocity limits'),
  commandTimeoutMs: z
    .number()
    .min(10)
    .max(500)
    .default(100)
    .describe('no command applied for this long: hold'),
  feedbackTimeoutMs: z
    .number()
    .min(10)
    .max(1000)
    .default(200)
    .describe('no joint reading for this long: stop'),
  maxCommandAgeMs: z.number().min(20).max(2000).default(500).describe('older commands are refused'),
  maxEngageJumpRad: z
    .number()
    .min(0.001)
    .max(0.5)
    .default(0.15)
    .describe('largest joint difference between the first command and the measured pose'),
});
export type SupervisorConfig = z.infer<typeof supervisorConfig>;

/** Stamps this far ahead of our clock are not clock error any more. */
const MAX_FUTURE_NS = 100 * NS_PER_MS;

export interface Transition {
  robotNs: number;
  from: SupervisorState;
  to: SupervisorState;
  cause: string;
}

/**
 * The only thing that may let a command reach a driver. Any doubt ends in `hold` or `stopped`.
 * Runs on the control thread; never throws on bad input, never waits.
 */
export class Supervisor {
  /** The last good one; positions are NaN until there was one. */
  readonly reading: JointReading;
  readonly #incoming: JointReading;
  readonly #driver: Driver;
  readonly #config: SupervisorConfig;
  readonly #counters: Counters;
  readonly #limiter: TargetLimiter;
  readonly #onTransition: (transition: Transition) => void;
  #state: SupervisorState = 'disconnected';
  #cause = 'no operator';
  #epoch = 1;
  #engagement = 0;
  #endedEngagement = 0;
  #seenEngagement = 0;
  #appliedNs = Number.NEGATIVE_INFINITY;
  #readNs: number;
  #gripper = 0;
  #limited = false;

  constructor(
    model: RobotModel,
    driver: Driver,
    config: SupervisorConfig,
    counters: Counters,
    nowNs: number,
    onTransition: (transition: Transition) => void = () => {},
  ) {
    this.#driver = driver;
    this.#config = config;
    this.#counters = counters;
    this.#limiter = new TargetLimiter(model, config.speedPercent / 100);
    this.#onTransition = onTransition;
    this.#incoming = emptyReading(model.joints.length);
    this.reading = emptyReading(model.joints.length);
    this.reading.positionsRad.fill(Number.NaN);
    this.#readNs = nowNs;
    this.#read(nowNs);
    this.#limiter.restart(this.reading.positionsRad, nowNs);
  }

  get state(): SupervisorState {
    return this.#state;
  }

  get cause(): string {
    return this.#cause;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get endedEngagement(): number {
    return this.#endedEngagement;
  }

  get targetRad(): Float64Array {
    return this.#limiter.targetRad;
  }

  /** A new session counts its engagements from the beginning; one that was only silent does not. */
  operatorJoined(newSession: boolean, nowNs: number): void {
    if (newSession) {
      this.#endedEngagement = 0;
      this.#seenEngagement = 0;
      this.#engagement = 0;
    }
    this.#go('operator-joined', 'operator connected', nowNs);
  }

  operatorLost(nowNs: number, cause: string): void {
    this.#go('operator-lost', cause, nowNs);
  }

  arm(nowNs: number): void {
    this.#go('arm', 'armed by operator', nowNs);
  }

  disarm(nowNs: number): void {
    this.#go('disarm', 'disarmed by operator', nowNs);
  }

  /** Legal from anywhere, at any time, any number of times; latched until `reset`. */
  estop(cause: string, nowNs: number): void {
    this.#go('estop', cause, nowNs);
    this.#driver.stop(nowNs);
  }

  /** Clears a latched stop if the operator knows the present epoch. Older commands are void from then on. */
  reset(epoch: number, nowNs: number): boolean {
    if (this.#state !== 'stopped' || epoch !== this.#epoch) return false;
    this.#epoch++;
    this.#go('reset', 'reset by operator', nowNs);
    return true;
  }

  /**
   * What may not wait in the queue: called for each newest command on arrival. Releasing the clutch and losing
   * tracking take effect now and void what is queued of that engagement; everything else waits its turn.
   */
  observe(command: JointCommand, nowNs: number): void {
    if (command.epoch !== this.#epoch) return;
    if (!command.tracking) {
      if (this.#state === 'engaged') this.#counters.add('tracking-lost');
      this.#endEngagement('tracking-lost', 'tracking lost', nowNs);
    } else if (command.engagement !== this.#seenEngagement) {
      this.#endEngagement('release', 'clutch released', nowNs);
    }
    this.#seenEngagement = Math.max(this.#seenEngagement, command.engagement);
  }

  #endEngagement(event: SupervisorEvent, cause: string, nowNs: number): void {
    this.#endedEngagement = Math.max(this.#endedEngagement, this.#seenEngagement);
    if (this.#state === 'engaged') this.#go(event, cause, nowNs);
  }

  /** Checks on arrival, before a command may take a place in the queue. */
  admit(command: JointCommand, nowNs: number): Reason | null {
    if (command.epoch !== this.#epoch) return 'wrong-epoch';
    const ageNs = nowNs - command.stateRobotNs;
    if (ageNs < -MAX_FUTURE_NS) return 'future-stamp';
    if (ageNs > this.#config.maxCommandAgeMs * NS_PER_MS) return 'too-old';
    return null;
  }

  /**
   * At a command's instant: lets it through to the driver or says why not. Counted here.
   * `heldNs` is how long playout kept it on purpose, which does not make it old.
   */
  submit(command: JointCommand, nowNs: number, heldNs = 0): Reason | null {
    const reason = this.#submit(command, nowNs, heldNs);
    if (reason !== null) this.#counters.add(reason);
    return reason;
  }

  #submit(command: JointCommand, nowNs: number, heldNs: number): Reason | null {
    const refused = this.admit(command, nowNs - heldNs) ?? this.#refusal(command);
    if (refused !== null) return refused;
    if (this.#state !== 'engaged') {
      // Written so that a pose not read yet (NaN) refuses as well.
      if (!(this.#jumpRad(command.positionsRad) <= this.#config.maxEngageJumpRad)) {
        // Over and done with: it must not engage later, when the hand happens to come near.
        this.#endedEngagement = Math.max(this.#endedEngagement, command.engagement);
        return 'engage-jump';
      }
      this.#limiter.restart(this.reading.positionsRad, nowNs);
      this.#engagement = command.engagement;
      this.#go('engage', 'following the operator', nowNs);
    }
    if (this.#limiter.aim(command.positionsRad)) this.#counters.add('clamped-range');
    this.#limited = this.#limiter.follow(nowNs);
    if (this.#limited) this.#counters.add('clamped-velocity');
    this.#gripper = command.gripper;
    this.#appliedNs = nowNs;
    return this.#write(nowNs) ? null : 'driver-fault';
  }

  /** Playout's guess while commands are missing: aimed at inside the same limits; the watchdog goes on counting. */
  bridge(positionsRad: Float64Array, nowNs: number): void {
    if (this.#state !== 'engaged') return;
    for (let i = 0; i < positionsRad.length; i++) if (!Number.isFinite(positionsRad[i])) return;
    this.#limiter.aim(positionsRad);
    this.#limited = this.#limiter.follow(nowNs);
    this.#write(nowNs);
  }

  #refusal(command: JointCommand): Reason | null {
    if (this.#state === 'stopped') return 'stopped';
    if (!POWERED[this.#state]) return 'not-armed';
    if (!command.tracking) return 'tracking-lost';
    if (command.engagement === 0) return 'not-engaged';
    if (command.engagement <= this.#endedEngagement) return 'old-engagement';
    for (let i = 0; i < command.positionsRad.length; i++)
      if (!Number.isFinite(command.positionsRad[i])) return 'non-finite';
    return command.gripper >= 0 && command.gripper <= 1 ? null : 'bad-range';
  }

  /** Once per control cycle: feedback, watchdog, and motion that is not a command (catching up, coming to rest). */
  tick(nowNs: number): void {
    this.#read(nowNs);
    if (this.#state === 'engaged') {
      if (nowNs - this.#appliedNs > this.#config.commandTimeoutMs * NS_PER_MS) {
        this.#counters.add('watchdog');
        this.#go('watchdog', `no command for ${this.#config.commandTimeoutMs} ms`, nowNs);
      } else if (this.#limited) {
        this.#limited = this.#limiter.follow(nowNs);
        this.#write(nowNs);
      }
    }
    if (this.#state === 'hold' && this.#limiter.settle(nowNs)) this.#write(nowNs);
  }

  #read(nowNs: number): void {
    const incoming = this.#incoming;
    const status = this.#driver.read(nowNs, incoming);
    if (status === 'ok' && isWhole(incoming)) {
      this.reading.robotNs = incoming.robotNs;
      this.reading.positionsRad.set(incoming.positionsRad);
      this.reading.velocitiesRadS.set(incoming.velocitiesRadS);
      this.reading.gripper = incoming.gripper;
      this.#readNs = nowNs;
    }
    if (status === 'fault') this.#go('fault', 'driver fault', nowNs);
    else if (nowNs - this.#readNs > this.#config.feedbackTimeoutMs * NS_PER_MS)
      this.#go('fault', 'no joint feedback', nowNs);
  }

  #write(nowNs: number): boolean {
    if (this.#driver.write(nowNs, this.#limiter.targetRad, this.#gripper) !== 'fault') return true;
    this.#go('fault', 'driver refused a write', nowNs);
    return false;
  }

  #jumpRad(goalRad: Float64Array): number {
    let jump = 0;
    for (let i = 0; i < goalRad.length; i++)
      jump = Math.max(jump, Math.abs(goalRad[i]! - this.reading.positionsRad[i]!));
    return jump;
  }

  #go(event: SupervisorEvent, cause: string, nowNs: number): void {
    const to = TRANSITIONS[this.#state][event];
    if (to === undefined || to === this.#state) return;
    const from = this.#state;
    this.#state = to;
    this.#cause = cause;
    if (from === 'engaged') this.#endedEngagement = Math.max(this.#endedEngagement, this.#engagement);
    if (!POWERED[to] && POWERED[from]) this.#driver.stop(nowNs);
    this.#onTransition({ robotNs: nowNs, from, to, cause });
    if (POWERED[to] && !POWERED[from]) this.#power(nowNs);
  }

  #power(nowNs: number): void {
    this.#limiter.restart(this.reading.positionsRad, nowNs);
    if (this.#driver.enable(nowNs) === 'fault') this.#go('fault', 'driver refused to enable', nowNs);
  }
}

function isWhole({ positionsRad, velocitiesRadS, gripper }: JointReading): boolean {
  for (let i = 0; i < positionsRad.length; i++)
    if (!Number.isFinite(positionsRad[i]! + velocitiesRadS[i]!)) return false;
  return Number.isFinite(gripper);
}
