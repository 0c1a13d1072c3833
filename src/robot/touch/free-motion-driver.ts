import { NS_PER_MS } from '../../core/time/clock.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import type { Driver, HandOver, JointReading, WorldPort } from '../driver.ts';
import { type FreeMotion, FreeMotionFit, FreeMotionModel } from './free-motion.ts';

/** Samples closer together than this say the same. */
const SAMPLE_NS = 20 * NS_PER_MS;
/** Time counts as motion while a joint moves at least this fast. */
const MOVING_RAD_S = 0.02;
const SLOW_RAD_S = 0.5;

export interface FreeMotionOptions {
  /** What was learnt earlier; null: nothing. */
  learnt: FreeMotion | null;
  /** Learns from this much slow motion; 0: does not. */
  learnS: number;
  onLearnt(learnt: FreeMotion): void;
}

/** A driver that knows its joints' torques, together with what they would be in free motion: so it feels. */
export class FreeMotionDriver implements Driver {
  readonly #inner: Driver;
  readonly #model: RobotModel;
  readonly #options: FreeMotionOptions;
  #feel: FreeMotionModel | null;
  #fit: FreeMotionFit | null;
  #sampledNs = Number.NEGATIVE_INFINITY;
  #movedNs = 0;

  constructor(inner: Driver, model: RobotModel, options: FreeMotionOptions) {
    this.#inner = inner;
    this.#model = model;
    this.#options = options;
    const { learnt, learnS } = options;
    this.#feel = learnt === null ? null : new FreeMotionModel(model, learnt);
    this.#fit = learnS > 0 ? new FreeMotionFit(model, SLOW_RAD_S) : null;
  }

  get fault(): string {
    return this.#inner.fault;
  }

  get busErrors(): number {
    return this.#inner.busErrors ?? 0;
  }

  get health(): Driver['health'] {
    return this.#inner.health;
  }

  get handOver(): HandOver | undefined {
    return this.#inner.handOver;
  }

  get world(): WorldPort | null | undefined {
    return this.#inner.world;
  }

  enable(nowNs: number): TickStatus {
    return this.#inner.enable(nowNs);
  }

  read(nowNs: number, out: JointReading): TickStatus {
    out.externalNm.fill(Number.NaN);
    const status = this.#inner.read(nowNs, out);
    // A driver that knows it itself knows better.
    if (status !== 'ok' || !Number.isNaN(out.externalNm[0])) return status;
    if (this.#fit !== null) this.#learn(out);
    else this.#feel?.external(out.positionsRad, out.velocitiesRadS, out.effortsNm, out.externalNm);
    return status;
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    return this.#inner.write(nowNs, positionsRad, gripper);
  }

  stop(nowNs: number): void {
    this.#inner.stop(nowNs);
  }

  dispose(): void {
    this.#inner.dispose();
  }

  #learn({ robotNs, positionsRad, velocitiesRadS, effortsNm }: JointReading): void {
    const gapNs = robotNs - this.#sampledNs;
    if (gapNs < SAMPLE_NS) return;
    this.#sampledNs = robotNs;
    if (!this.#fit!.add(positionsRad, velocitiesRadS, effortsNm)) return;
    if (velocitiesRadS.some((speed) => Math.abs(speed) > MOVING_RAD_S))
      this.#movedNs += Math.min(gapNs, 2 * SAMPLE_NS);
    if (this.#movedNs < this.#options.learnS * 1e9) return;
    const learnt = this.#fit!.solve();
    this.#fit = null;
    this.#feel = new FreeMotionModel(this.#model, learnt);
    this.#options.onLearnt(learnt);
  }
}
