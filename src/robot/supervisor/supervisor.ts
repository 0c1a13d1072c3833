import type { Counters, Reason } from '../../core/counters.ts';
import { NS_PER_MS } from '../../core/time/clock.ts';
import type { Neighbour } from '../../geometry/pairings.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { JointCommand } from '../../messages/command.ts';
import type { LimitedBy, StateReason, SupervisorState } from '../../messages/robot-state.ts';
import type { Driver, JointReading } from '../driver.ts';
import { ArmMotion } from './arm-motion.ts';
import { DriverFeedback, MAX_FUTURE_NS } from './driver-feedback.ts';
import { notFinite } from './finite.ts';
import type { FlightRecorder } from './flight-recorder.ts';
import { FlightScribe } from './flight-scribe.ts';
import { jointLimits } from './limits.ts';
import { largestGapRad, Plausibility } from './plausible.ts';
import {
  type InnerState,
  POWERED,
  REASON_OF,
  type SupervisorEvent,
  shownState,
  TRANSITIONS,
  type Transition,
} from './states.ts';
import type { SupervisorConfig } from './supervisor-config.ts';
import { TargetCheck } from './target-check.ts';

/** As long as an operator may be silent. A loop that stalled for longer cannot know what it missed. */
const MAX_STALL_NS = 1000 * NS_PER_MS;
/** Entering one of these states keeps the flight record of the last seconds. */
const KEPT: readonly SupervisorState[] = ['hold', 'stopped'];

/**
 * The only path from a command to a driver. Any doubt ends in `hold` or `stopped`.
 * Runs on the control thread; never throws on bad input, never waits.
 */
export class Supervisor {
  /** The last good reading; positions are NaN until the first. */
  readonly reading: JointReading;
  readonly #feedback: DriverFeedback;
  readonly #driver: Driver;
  readonly #config: SupervisorConfig;
  readonly #counters: Counters;
  readonly #motion: ArmMotion;
  readonly #plausibility: Plausibility;
  readonly #check: TargetCheck;
  readonly #scribe: FlightScribe | null;
  readonly #onTransition: (transition: Transition) => void;
  #state: InnerState = 'disconnected';
  #cause = 'no operator';
  #why: StateReason = 'person';
  #sinceNs = 0;
  /** Holding through an outage of the link. */
  #isWaiting = false;
  #epoch = 1;
  #engagement = 0;
  #endedEngagement = 0;
  #seenEngagement = 0;
  #seq = 0;
  #commandNs = Number.NaN;
  #acceptedNs = Number.NEGATIVE_INFINITY;
  /** The last cycle, or when the joints were powered. */
  #tickNs = 0;
  #gripper = 0;
  /** When the driver began to power its joints, and whether it reports them powered. */
  #armingNs = 0;
  #isPowered = false;
  /** Joint positions of the other arm; NaN: unknown; null: there is none. */
  readonly neighbourRad: Float64Array | null;

  constructor(
    model: RobotModel,
    driver: Driver,
    config: SupervisorConfig,
    counters: Counters,
    nowNs: number,
    onTransition: (transition: Transition) => void = () => {},
    recorder: FlightRecorder | null = null,
    neighbour: Neighbour | null = null,
  ) {
    this.#driver = driver;
    this.#config = config;
    this.#counters = counters;
    this.#motion = new ArmMotion(model, config, counters, neighbour);
    this.neighbourRad = neighbour && new Float64Array(neighbour.model.joints.length).fill(Number.NaN);
    this.#plausibility = new Plausibility(model, config.maxLeapRad);
    this.#check = new TargetCheck(model, jointLimits(model, config));
    this.#scribe = recorder === null ? null : new FlightScribe(recorder, model.joints.length);
    this.#onTransition = onTransition;
    this.#feedback = new DriverFeedback(driver, model, config.maxExternalEffortNm, nowNs);
    this.reading = this.#feedback.reading;
    this.#tickNs = nowNs;
    this.#sinceNs = nowNs;
    this.#motion.restart(Float64Array.from(model.homeRad), nowNs);
    this.#read(nowNs);
    if (this.#feedback.isKnown) this.#motion.restart(this.reading.positionsRad, nowNs);
  }

  get state(): SupervisorState {
    return shownState(this.#state);
  }

  get cause(): string {
    return this.#cause;
  }

  get why(): StateReason {
    return this.#why;
  }

  /** When it entered this state. */
  get sinceNs(): number {
    return this.#sinceNs;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get endedEngagement(): number {
    return this.#endedEngagement;
  }

  get targetRad(): Float64Array {
    return this.#motion.targetRad;
  }

  /** The limit that recently held the arm back. */
  get limitedBy(): LimitedBy {
    return this.#motion.limitedBy;
  }

  /** The smallest clearance; NaN if nothing is watched. */
  get clearanceM(): number {
    return this.#motion.clearanceM;
  }

  get nearest(): string {
    return this.#motion.nearest;
  }

  /** The operator is silent and may have chosen that the arm, at rest, holds for a while. False: it must stop. */
  waitForOperator(holdS: number): boolean {
    if (!(holdS > 0) || (this.#state !== 'hold' && this.#state !== 'armed')) return false;
    if (!this.#isWaiting) this.#cause = `operator silent: holding for up to ${holdS} s, then a stop`;
    this.#isWaiting = true;
    return true;
  }

  /** A new session restarts the numbering; a resumed one does not, nor anything if the arm held through the outage. */
  operatorJoined(newSession: boolean, nowNs: number): void {
    if (!newSession && this.#isWaiting) {
      this.#isWaiting = false;
      this.#cause = 'operator reconnected: close the clutch again';
      return;
    }
    if (newSession) {
      this.#endedEngagement = 0;
      this.#seenEngagement = 0;
      this.#engagement = 0;
      this.#seq = 0;
    }
    this.#go('operator-joined', 'operator connected', nowNs);
  }

  /** The operator went silent: an e-stop if the joints are powered. */
  operatorLost(nowNs: number, cause = 'operator silent'): void {
    this.#go('operator-lost', cause, nowNs);
  }

  /** The operator disconnected properly: power off, nothing latched. */
  operatorLeft(nowNs: number): void {
    this.#go('operator-left', 'operator left', nowNs);
  }

  /** Powers the joints; the robot is armed once the driver reports them powered. */
  arm(nowNs: number): void {
    if (this.#feedback.isKnown) this.#go('arm', 'powering the joints', nowNs);
    else if (this.#state === 'idle') this.#cause = 'cannot arm: no joint reading from the driver yet';
  }

  disarm(nowNs: number): void {
    this.#go('disarm', 'disarmed by operator', nowNs);
  }

  /** May be called in any state, any number of times; latched until `reset`. */
  estop(cause: string, nowNs: number): void {
    this.#go('estop', cause, nowNs);
    this.#driver.stop(nowNs);
  }

  /** An e-stop as part of an orderly shutdown: keeps no flight record. */
  shutDown(cause: string, nowNs: number): void {
    this.#go('estop', cause, nowNs, 'person', false);
    this.#driver.stop(nowNs);
  }

  /** Takes the pose of the other arm. If that arm is stopped, this one stops too. */
  neighbourAt(positionsRad: ArrayLike<number>, isStopped: boolean, nowNs: number): void {
    this.#motion.neighbourAt(positionsRad);
    for (let i = 0; i < (this.neighbourRad?.length ?? 0); i++) this.neighbourRad![i] = positionsRad[i]!;
    if (isStopped && POWERED[this.#state]) this.estop('the other arm is stopped', nowNs);
  }

  /** The pose of the other arm is unknown: this arm holds, and cannot engage until it is known again. */
  neighbourSilent(nowNs: number, cause = 'the other arm is silent'): void {
    this.neighbourRad?.fill(Number.NaN);
    if (this.#state === 'engaged') this.#go('watchdog', cause, nowNs, 'fault');
  }

  /** Clears a latched stop if the operator knows the present epoch. Voids all earlier commands. */
  reset(epoch: number, nowNs: number): boolean {
    if (this.#state !== 'stopped' || epoch !== this.#epoch) return false;
    this.#epoch++;
    this.#go('reset', 'reset by operator', nowNs);
    return true;
  }

  /**
   * Handles what must not wait in the queue; called on arrival of each newer command. A released clutch or
   * lost tracking takes effect now and voids the queued commands of that engagement.
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

  /** Checks a command on arrival, before it is queued. */
  admit(command: JointCommand, nowNs: number): Reason | null {
    if (command.epoch !== this.#epoch) return 'wrong-epoch';
    const ageNs = nowNs - command.sampledRobotNs;
    if (ageNs < -MAX_FUTURE_NS) return 'future-stamp';
    if (ageNs > this.#config.maxCommandAgeMs * NS_PER_MS) return 'too-old';
    return null;
  }

  /**
   * At a command's playout time: applies it, or returns and counts the reason why not. `heldNs` is how long
   * playout held it on purpose, which does not count as age; `dueNs` is when it should have arrived, which
   * may be before now.
   */
  submit(command: JointCommand, nowNs: number, heldNs = 0, dueNs = nowNs): Reason | null {
    const reason = this.#submit(command, nowNs, heldNs, dueNs);
    if (reason !== null) {
      this.#counters.add(reason);
      if (this.#state === 'engaged') this.#motion.doubt();
    }
    return reason;
  }

  #submit(command: JointCommand, nowNs: number, heldNs: number, dueNs: number): Reason | null {
    this.#checkStall(nowNs);
    const rejected =
      notFinite(command) ??
      this.#outOfOrder(command) ??
      this.admit(command, nowNs - heldNs) ??
      this.#rejection(command) ??
      this.#implausible(command);
    if (rejected !== null) return rejected;
    this.#plausibility.remember(command.positionsRad);
    if (this.#state !== 'engaged') {
      const unfit = this.#unfit(command, nowNs);
      if (unfit !== null) {
        // This engagement is over: it must not engage later, when the hand happens to come close.
        this.#endedEngagement = Math.max(this.#endedEngagement, command.engagement);
        return unfit;
      }
      if (this.#state === 'armed') {
        this.#motion.restart(this.reading.positionsRad, nowNs);
        this.#check.begin(nowNs, this.reading.positionsRad);
      }
      this.#motion.engage(nowNs);
      this.#feedback.touch.engage();
      this.#engagement = command.engagement;
      this.#go('engage', 'following the operator', nowNs);
    }
    this.#motion.command(
      command.positionsRad,
      command.sampledOperatorNs - command.ageNs,
      nowNs,
      dueNs - command.ageNs,
    );
    this.#commandNs = command.sampledRobotNs;
    this.#gripper = command.gripper;
    this.#acceptedNs = nowNs;
    return this.#offer(nowNs, true);
  }

  /**
   * A command of this engagement that waits for its time: the motion may know where the path leads. It does not move the
   * arm before the command is due.
   */
  preview(command: JointCommand, dueNs: number): void {
    if (this.#state !== 'engaged' || command.engagement !== this.#engagement) return;
    if (command.epoch !== this.#epoch || !command.tracking || notFinite(command) !== null) return;
    if (!this.#plausibility.isNext(command.positionsRad, this.#motion.goalRad, this.reading.positionsRad))
      return;
    this.#motion.preview(
      command.positionsRad,
      command.sampledOperatorNs - command.ageNs,
      dueNs - command.ageNs,
    );
  }

  /** The queue keeps the order; this is the final check. */
  #outOfOrder(command: JointCommand): Reason | null {
    if (!(command.seq > this.#seq)) return 'dropped-stale';
    this.#seq = command.seq;
    return null;
  }

  #rejection(command: JointCommand): Reason | null {
    if (this.#state === 'stopped') return 'stopped';
    if (!POWERED[this.#state]) return 'not-armed';
    if (!command.tracking) return 'tracking-lost';
    if (command.engagement === 0) return 'not-engaged';
    return command.engagement <= this.#endedEngagement ? 'old-engagement' : null;
  }

  #implausible({ positionsRad }: JointCommand): Reason | null {
    const outOfRange = this.#plausibility.outOfRange(positionsRad, this.reading.positionsRad);
    if (outOfRange !== null || this.#state !== 'engaged') return outOfRange;
    return this.#plausibility.leaps(positionsRad);
  }

  /**
   * Why an engagement cannot begin. While the joints are powered, a target continues from the previous one;
   * the first target is the measured pose of an arm at rest.
   */
  #unfit(command: JointCommand, nowNs: number): Reason | null {
    // The pose of another arm must be known.
    if (this.#state === 'arming' || Number.isNaN(this.neighbourRad?.[0])) return 'not-ready';
    // Also rejects while no pose has been read (NaN).
    if (!(largestGapRad(command.positionsRad, this.reading.positionsRad) <= this.#config.maxEngageJumpRad))
      return 'engage-jump';
    return this.#state !== 'armed' || this.#isAtRest(nowNs) ? null : 'not-ready';
  }

  /** Whether the measured pose may be the first target since power-on. */
  #isAtRest(nowNs: number): boolean {
    return this.#feedback.isStill && this.#check.canBegin(nowNs, this.reading.positionsRad);
  }

  /** Once per control cycle: feedback, watchdog, and motion that is not a command (catching up, coming to rest). */
  tick(nowNs: number): void {
    this.#checkStall(nowNs);
    this.#tickNs = Math.max(this.#tickNs, nowNs);
    this.#read(nowNs);
    if (this.#state === 'arming') this.#enable(nowNs);
    this.#move(nowNs);
    this.#note(nowNs);
  }

  #move(nowNs: number): void {
    if (this.#state === 'engaged') {
      if (nowNs - this.#acceptedNs > this.#config.commandTimeoutMs * NS_PER_MS) {
        this.#counters.add('watchdog');
        this.#go('watchdog', `no command for ${this.#config.commandTimeoutMs} ms`, nowNs);
      } else if (this.#feedback.touch.isTooHard) {
        this.#counters.add('hard-contact');
        this.#go('watchdog', this.#feedback.touch.cause, nowNs);
      } else this.#count(this.#offer(nowNs, this.#motion.step(nowNs)));
    }
    if (this.#state === 'hold') this.#count(this.#offer(nowNs, this.#motion.settle(nowNs)));
    else if (this.#state !== 'engaged' && this.#feedback.isKnown)
      this.#motion.watch(this.reading.positionsRad);
  }

  #count(reason: Reason | null): void {
    if (reason !== null) this.#counters.add(reason);
  }

  #note(nowNs: number): void {
    if (this.#scribe === null) return;
    const engagement = this.#engagement;
    this.#scribe.note(nowNs, this, this.#motion, engagement, this.#seq, this.#commandNs, this.#acceptedNs);
  }

  #read(nowNs: number): void {
    if (this.#feedback.read(nowNs) === 'fault') this.#fault('driver fault', nowNs);
    // Without power there is nothing to stop, and while it comes the driver has its own limit.
    else if (this.#isPowered && POWERED[this.#state] && this.#feedback.isOlderThan(this.#timeoutNs, nowNs))
      this.#go('fault', 'no joint feedback', nowNs);
  }

  get #timeoutNs(): number {
    return this.#config.feedbackTimeoutMs * NS_PER_MS;
  }

  /**
   * A stalled loop saw neither joints nor operator, so this comes before anything else. After a short stall
   * the arm holds. After a long one a powered robot stops, and everything sent meanwhile is void, including a
   * reset.
   */
  #checkStall(nowNs: number): void {
    const gapNs = nowNs - this.#tickNs;
    if (!POWERED[this.#state] || !(gapNs > this.#config.commandTimeoutMs * NS_PER_MS)) return;
    const isLong = gapNs > Math.max(MAX_STALL_NS, this.#timeoutNs);
    if (!isLong && this.#state !== 'engaged') return;
    this.#tickNs = nowNs;
    if (isLong) this.#epoch++;
    else this.#counters.add('watchdog');
    const cause = `control loop stalled for ${Math.round(gapNs / NS_PER_MS)} ms`;
    this.#go(isLong ? 'fault' : 'watchdog', cause, nowNs, 'stall');
  }

  /** Checks the target, then passes it to the driver. A target at rest is checked as well. */
  #offer(nowNs: number, moves: boolean): Reason | null {
    if (!this.#check.passes(nowNs, this.#motion.targetRad)) {
      this.#note(nowNs);
      this.#go('fault', this.#check.breach, nowNs);
      return 'limit-breach';
    }
    if (!moves || this.#driver.write(nowNs, this.#motion.targetRad, this.#gripper) !== 'fault') return null;
    this.#fault('driver rejected a write', nowNs);
    return 'driver-fault';
  }

  /** Prefers the driver's own description of its fault. */
  #fault(otherwise: string, nowNs: number): void {
    this.#go('fault', this.#driver.fault || otherwise, nowNs);
  }

  #go(event: SupervisorEvent, cause: string, nowNs: number, why = REASON_OF[event], keep = true): void {
    this.#checkStall(nowNs);
    const to = TRANSITIONS[this.#state][event];
    if (to === undefined || to === this.#state) return;
    const from = this.#state;
    this.#state = to;
    this.#cause = cause;
    this.#isWaiting = false;
    this.#why = why;
    this.#sinceNs = nowNs;
    if (from === 'engaged') this.#endedEngagement = Math.max(this.#endedEngagement, this.#engagement);
    if (!POWERED[to] && POWERED[from]) this.#driver.stop(nowNs);
    const shown = { from: shownState(from), to: shownState(to) };
    const flight = keep && KEPT.includes(shown.to) ? (this.#scribe?.freeze() ?? -1) : -1;
    if (shown.from !== shown.to) this.#onTransition({ robotNs: nowNs, ...shown, cause, flight });
    if (POWERED[to] && !POWERED[from]) this.#power(nowNs);
  }

  #power(nowNs: number): void {
    this.#motion.restart(this.reading.positionsRad, nowNs);
    this.#armingNs = nowNs;
    this.#isPowered = false;
    this.#tickNs = Math.max(this.#tickNs, nowNs);
    this.#enable(nowNs);
  }

  /** Called every cycle until the driver reports its joints powered and the arm is at rest. */
  #enable(nowNs: number): void {
    const status = this.#isPowered ? 'ok' : this.#driver.enable(nowNs);
    this.#isPowered = status === 'ok';
    if (status === 'fault') this.#fault('driver failed to enable the joints', nowNs);
    else if (this.#isPowered && this.#isAtRest(nowNs)) this.#go('powered', 'armed by operator', nowNs);
    else if (nowNs - this.#armingNs > this.#config.enableTimeoutMs * NS_PER_MS)
      this.#fault(this.#isPowered ? 'the arm did not come to rest' : 'driver did not become ready', nowNs);
    else this.#cause = this.#isPowered ? 'the arm is coming to rest' : 'powering the joints';
  }
}
