import { NS_PER_MS } from '../../core/time/clock.ts';
import type { RobotModel } from '../../geometry/robot-model.ts';
import type { TickStatus } from '../../messages/robot-state.ts';
import { type Driver, emptyReading, type JointReading } from '../driver.ts';
import { isWhole } from './finite.ts';
import { Stillness } from './stillness.ts';
import { TouchGuard } from './touch-guard.ts';

/** Stamps further ahead of our clock than this are not clock error. */
export const MAX_FUTURE_NS = 100 * NS_PER_MS;

/** What the driver reports about its joints, as far as it is complete, finite and not from the future. Hot path. */
export class DriverFeedback {
  /** The last good reading; positions are NaN until the first. */
  readonly reading: JointReading;
  readonly touch: TouchGuard;
  readonly #driver: Driver;
  readonly #incoming: JointReading;
  readonly #stillness: Stillness;
  #readNs = 0;

  constructor(driver: Driver, model: RobotModel, maxExternalEffortNm: number | null, nowNs: number) {
    const joints = model.joints.length;
    this.#driver = driver;
    this.#stillness = new Stillness(joints);
    this.touch = new TouchGuard(model, maxExternalEffortNm);
    this.#incoming = emptyReading(joints);
    this.reading = emptyReading(joints);
    this.reading.positionsRad.fill(Number.NaN);
    this.#readNs = nowNs;
  }

  /** Returns what the driver answered; only a good reading replaces the last one. */
  read(nowNs: number): TickStatus {
    const incoming = this.#incoming;
    const status = this.#driver.read(nowNs, incoming);
    if (status === 'ok' && isWhole(incoming) && incoming.robotNs - nowNs <= MAX_FUTURE_NS)
      this.#take(incoming, nowNs);
    return status;
  }

  #take(incoming: JointReading, nowNs: number): void {
    this.reading.robotNs = incoming.robotNs;
    this.reading.positionsRad.set(incoming.positionsRad);
    this.reading.velocitiesRadS.set(incoming.velocitiesRadS);
    this.reading.gripper = incoming.gripper;
    this.reading.effortsNm.set(incoming.effortsNm);
    this.reading.externalNm.set(incoming.externalNm);
    this.reading.gripperN = incoming.gripperN;
    this.touch.note(incoming);
    // A reading that the driver repeats ages by its stamp.
    this.#readNs = Math.min(nowNs, incoming.robotNs);
    this.#stillness.note(incoming);
  }

  /** Whether there was ever a good reading. */
  get isKnown(): boolean {
    return !Number.isNaN(this.reading.positionsRad[0]!);
  }

  isOlderThan(ageNs: number, nowNs: number): boolean {
    return nowNs - this.#readNs > ageNs;
  }

  get isStill(): boolean {
    return this.#stillness.isStill;
  }
}
