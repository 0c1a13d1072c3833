import type { Clock } from '../core/time/clock.ts';
import type { Observation, Unobserved } from './observation.ts';

/** Outcome counts of a policy's ticks. */
export interface PolicyCounts {
  ticks: number;
  asked: number;
  /** Actions passed to the operator. */
  acted: number;
  /** Answers without an action. */
  idle: number;
  /** Late answers: dropped. */
  late: number;
  /** Invalid actions for this robot, and failures to answer. */
  malformed: number;
  failed: number;
  /** Ticks skipped because the last answer was still pending. */
  busy: number;
  skipped: Record<Unobserved, number>;
}

export interface PolicyParts {
  clock: Clock;
  joints: number;
  observe: (tick: number) => Observation | Unobserved;
  /** Rejects when the policy does not answer; `signal` aborts the wait. */
  ask: (observation: Observation, signal: AbortSignal) => Promise<unknown>;
  /** To the operator's input `joints`. */
  act: (jointsRad: readonly number[], gripper: number, clutch: boolean) => void;
  /** A later answer is dropped. */
  timeoutMs: number;
  /** Silence after which the operator makes the robot hold: continuing then starts with an open clutch. */
  holdAfterMs: number;
  /**
   * Whether the operator accepts actions from here: only after its lock on an earlier program has expired.
   */
  isAdmitted: () => boolean;
  /** Whether the robot currently follows, by the operator's last report. */
  follows: () => boolean;
}

/** Long enough for every tick of an operator to see it. */
const OPEN_NS = 100e6;
/** From closing the clutch to following: the link, playout and the report back. */
const ENGAGE_NS = 3000e6;

/** Queries a policy at every tick and forwards answers that are in time. One request is open at a time. */
export class PolicyRunner {
  readonly #parts: PolicyParts;
  readonly counts: PolicyCounts = {
    ticks: 0,
    asked: 0,
    acted: 0,
    idle: 0,
    late: 0,
    malformed: 0,
    failed: 0,
    busy: 0,
    skipped: { 'no-robot': 0, 'stale-state': 0, 'missing-camera': 0, 'stale-camera': 0 },
  };
  #open: { askedNs: number; abort: AbortController } | null = null;
  #actedNs = Number.NEGATIVE_INFINITY;
  #openedNs = Number.NEGATIVE_INFINITY;
  /** When the robot was last seen to follow. */
  #followedNs = Number.NEGATIVE_INFINITY;
  /** Ended by something other than the policy's own pause: does not resume until restarted. */
  #overruled = false;

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  tick(): void {
    const { clock, observe, timeoutMs } = this.#parts;
    const { counts } = this;
    counts.ticks++;
    const nowNs = clock.nowNs();
    if (this.#open !== null && nowNs - this.#open.askedNs > timeoutMs * 1e6) this.#giveUp();
    if (this.#open !== null) {
      counts.busy++;
      return;
    }
    const observation = observe(counts.ticks);
    if (typeof observation === 'string') {
      counts.skipped[observation]++;
      return;
    }
    counts.asked++;
    void this.#ask(observation, nowNs);
  }

  /** A late answer is ignored. */
  #giveUp(): void {
    this.counts.late++;
    this.#open?.abort.abort();
    this.#open = null;
  }

  async #ask(observation: Observation, askedNs: number): Promise<void> {
    const open = { askedNs, abort: new AbortController() };
    this.#open = open;
    let answer: unknown;
    try {
      answer = await this.#parts.ask(observation, open.abort.signal);
    } catch {
      if (this.#open === open) this.counts.failed++;
      answer = undefined;
    }
    if (this.#open !== open) return;
    this.#open = null;
    if (answer === undefined) return;
    if (this.#parts.clock.nowNs() - askedNs > this.#parts.timeoutMs * 1e6) this.counts.late++;
    else this.#take(answer, observation);
  }

  #take(answer: unknown, observation: Observation): void {
    const { joints, act, clock } = this.#parts;
    const action = (answer as { action?: unknown } | null)?.action;
    if (action === null) {
      this.counts.idle++;
      return;
    }
    if (!isAction(action, joints)) {
      this.counts.malformed++;
      return;
    }
    this.counts.acted++;
    act(action.slice(0, joints), action[joints] ?? observation.state.gripper, this.#isClosed(clock.nowNs()));
  }

  /** Opened briefly at the start and after its own pause; stays open once someone else has ended it. */
  #isClosed(nowNs: number): boolean {
    const { holdAfterMs, follows, isAdmitted } = this.#parts;
    if (nowNs - this.#actedNs > holdAfterMs * 1e6) this.#openedNs = this.#followedNs = nowNs;
    else if (!isAdmitted()) this.#openedNs = nowNs;
    this.#actedNs = nowNs;
    if (follows()) this.#followedNs = nowNs;
    if (nowNs - this.#followedNs > ENGAGE_NS) this.#overruled = true;
    return !this.#overruled && nowNs - this.#openedNs > OPEN_NS;
  }

  /** The robot was stopped, held or taken over by someone else. */
  get overruled(): boolean {
    return this.#overruled;
  }

  stop(): void {
    this.#open?.abort.abort();
    this.#open = null;
  }
}

/** The joints, and the gripper where the policy has one. */
const isAction = (value: unknown, joints: number): value is number[] =>
  Array.isArray(value) &&
  (value.length === joints || value.length === joints + 1) &&
  value.every((each) => typeof each === 'number' && Number.isFinite(each));
