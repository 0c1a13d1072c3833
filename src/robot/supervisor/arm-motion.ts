import type { Counters, Reason } from '../../core/counters.ts';
import { NS_PER_MS, NS_PER_S } from '../../core/time/clock.ts';
import type { Neighbour } from '../../geometry/pairings.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import { LIMITED_BY, type LimitedBy } from '../../messages/robot-state.ts';
import { type ClearanceField, createClearanceField } from './collision.ts';
import { MotionGuard } from './guard.ts';
import { TargetLimiter } from './limiter.ts';
import { expectClearHome, jointLimits, workspaceOf } from './limits.ts';
import { watchManipulability } from './singularity.ts';
import type { SupervisorConfig } from './supervisor-config.ts';

/** After this long an arm that is not behind its path has caught up. */
const SETTLED_NS = 200 * NS_PER_MS;
const CAUGHT_UP_S = 0.03;
/** Full speed is allowed this long after engaging, caught up or not. */
const RAMP_NS = NS_PER_S;
/** Share of a new delay between the hand and the robot in the mean: the nodes keep the hand's own spacing. */
const DELAY_SHARE = 0.1;
const SAME_SAMPLE_NS = 0.5 * NS_PER_MS;
/** A delay that changes by more than this is another stream. */
const MAX_DELAY_CHANGE_NS = 50 * NS_PER_MS;
/** A limit is shown for at least this long, so that people can read it. */
const SHOWN_NS = 300 * NS_PER_MS;

const REMARKS: Record<LimitedBy, Reason | null> = {
  '': null,
  jerk: 'clamped-jerk',
  acceleration: 'clamped-acceleration',
  velocity: 'clamped-velocity',
  range: 'clamped-range',
  'joint-limit': 'slowed-limit',
  'engage-ramp': 'slowed-engage',
  singularity: 'slowed-singularity',
  backlog: 'slowed-backlog',
  reach: null,
  workspace: 'clamped-workspace',
  collision: 'slowed-collision',
};

/** Goals in, limited joint targets out, with the limit that applies. */
export class ArmMotion {
  readonly #limiter: TargetLimiter;
  readonly #guard: MotionGuard;
  readonly #field: ClearanceField;
  readonly #counters: Counters;
  readonly #engageShare: number;
  #engagedNs = Number.NEGATIVE_INFINITY;
  #takenNs = Number.NaN;
  /** From a hand sample to when the arm should be there. */
  #delayNs = Number.NaN;
  #busy = false;
  #clamped = false;
  #shown: LimitedBy = '';
  #shownNs = Number.NEGATIVE_INFINITY;

  constructor(
    model: RobotModel,
    config: SupervisorConfig,
    counters: Counters,
    neighbour: Neighbour | null = null,
  ) {
    const limits = jointLimits(model, config);
    const workspace = workspaceOf(model, config);
    const { groundZM, obstacles } = config;
    const field = createClearanceField(model, { groundZM, obstacles, workspace, neighbour });
    expectClearHome(model, config);
    this.#field = field;
    this.#guard = new MotionGuard(field, limits, config);
    const manipulability = watchManipulability(model, config.singularityMargin);
    this.#limiter = new TargetLimiter(limits, this.#guard, manipulability, {
      singularityMargin: config.singularityMargin,
      singularityShare: config.singularitySpeedPercent / 100,
      extrapolate: config.extrapolate,
      maxLagS: config.maxLagS,
    });
    this.#counters = counters;
    this.#engageShare = config.engageSpeedPercent / 100;
  }

  get targetRad(): Float64Array {
    return this.#limiter.targetRad;
  }

  get velocitiesRadS(): Float64Array {
    return this.#limiter.velocitiesRadS;
  }

  get goalRad(): Float64Array {
    return this.#limiter.goalRad;
  }

  get limitedBy(): LimitedBy {
    return this.#shown;
  }

  get clearanceM(): number {
    return this.#guard.clearanceM(this.#guard.nearest);
  }

  /** The pair with the smallest clearance. */
  get nearest(): string {
    return this.#guard.name(this.#guard.nearest);
  }

  /** Joint positions of the other arm. */
  neighbourAt(positionsRad: ArrayLike<number>): void {
    this.#field.placeNeighbour(positionsRad);
    this.#guard.doubt();
  }

  /** Restarts at rest in this pose. */
  restart(measuredRad: Float64Array, nowNs: number): void {
    this.#limiter.restart(measuredRad, nowNs);
    this.#limiter.speedShare = 1;
    this.#engagedNs = Number.NEGATIVE_INFINITY;
    this.#busy = false;
    this.#clamped = false;
    this.#shown = '';
  }

  /** Starts a new stream of commands: the target keeps its motion, and is slow until it has caught up. */
  engage(nowNs: number): void {
    this.#limiter.resume(nowNs);
    this.#delayNs = this.#takenNs = Number.NaN;
    this.#engagedNs = nowNs;
    this.#clamped = false;
    this.#shown = '';
  }

  /**
   * Adds a command to the path and takes a step. `takenNs` is when its hand was sampled, on any steady clock; `dueNs`
   * when the arm should be there.
   */
  command(goalRad: Float64Array, takenNs: number, nowNs: number, dueNs = nowNs): void {
    this.preview(goalRad, takenNs, dueNs);
    this.step(nowNs);
  }

  /** Adds a command to the path before it is due: what is known of the path need not be predicted. */
  preview(goalRad: Float64Array, takenNs: number, dueNs: number): void {
    // Known already, or the same sample again: the operator's tick may be faster than its device.
    if (takenNs - this.#takenNs < SAME_SAMPLE_NS) return;
    this.#takenNs = takenNs;
    const change = dueNs - takenNs - this.#delayNs;
    // A clock relation of its own, and the first command of a stream, begin anew.
    this.#delayNs += Math.abs(change) < MAX_DELAY_CHANGE_NS ? DELAY_SHARE * change : change;
    if (Number.isNaN(this.#delayNs)) this.#delayNs = dueNs - takenNs;
    this.#clamped = this.#limiter.aim(goalRad, takenNs + this.#delayNs);
    if (this.#clamped) this.#counters.add('clamped-range');
  }

  /** After a command that cannot be followed: stops predicting from the commands before it. */
  doubt(): void {
    this.#limiter.doubt();
  }

  /** Takes a step towards the goal; false if the target was and is at rest. */
  step(nowNs: number): boolean {
    const wasBusy = this.#busy;
    this.#ramp(nowNs);
    this.#busy = this.#limiter.follow(nowNs);
    const by = this.#limiter.limitedBy;
    const remark = REMARKS[by];
    if (this.#busy && remark !== null) this.#counters.add(remark);
    this.#show(by === '' && this.#clamped ? 'range' : by, nowNs);
    return wasBusy || this.#busy;
  }

  /** Takes a step towards rest; false if the target is already at rest. */
  settle(nowNs: number): boolean {
    this.#clamped = false;
    this.#busy = false;
    this.#show('', nowNs);
    return this.#limiter.settle(nowNs);
  }

  /** Without motion: keeps the clearances of the measured pose up to date. */
  watch(measuredRad: Float64Array): void {
    this.#guard.measure(measuredRad);
    this.#shown = '';
  }

  #ramp(nowNs: number): void {
    const sinceNs = nowNs - this.#engagedNs;
    const isCaughtUp = sinceNs > SETTLED_NS && this.#limiter.lagS < CAUGHT_UP_S;
    if (sinceNs > RAMP_NS || isCaughtUp) {
      this.#engagedNs = Number.NEGATIVE_INFINITY;
      this.#limiter.speedShare = 1;
    } else this.#limiter.speedShare = Math.max(this.#engageShare, sinceNs / RAMP_NS);
  }

  /** Shows the most serious recent limit. */
  #show(by: LimitedBy, nowNs: number): void {
    const isOver = nowNs - this.#shownNs > SHOWN_NS;
    if (!isOver && LIMITED_BY.indexOf(by) < LIMITED_BY.indexOf(this.#shown)) return;
    this.#shown = by;
    this.#shownNs = nowNs;
  }
}
