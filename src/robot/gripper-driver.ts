import type { TickStatus } from '../messages/robot-state.ts';
import type { Driver, HandOver, JointReading, WorldPort } from './driver.ts';
import { emptyGripperReading, type Gripper } from './gripper.ts';

const worse = (one: TickStatus, other: TickStatus): TickStatus =>
  one === 'fault' || other === 'fault' ? 'fault' : one === 'stale' || other === 'stale' ? 'stale' : 'ok';

/** An arm and the gripper it carries, as one driver: both follow, or both stop. */
export class GripperDriver implements Driver {
  readonly #arm: Driver;
  readonly #gripper: Gripper;
  readonly #reading = emptyGripperReading();

  constructor(arm: Driver, gripper: Gripper) {
    this.#arm = arm;
    this.#gripper = gripper;
  }

  get fault(): string {
    return this.#arm.fault || (this.#gripper.fault && `gripper: ${this.#gripper.fault}`);
  }

  get busErrors(): number {
    return (this.#arm.busErrors ?? 0) + this.#gripper.busErrors;
  }

  get health(): Driver['health'] {
    return this.#arm.health;
  }

  get handOver(): HandOver | undefined {
    return this.#arm.handOver;
  }

  get world(): WorldPort | null | undefined {
    return this.#arm.world;
  }

  enable(nowNs: number): TickStatus {
    const arm = this.#arm.enable(nowNs);
    return worse(arm, this.#gripper.enable(nowNs));
  }

  /** A gripper without a reading does not hide where the arm is; only a fault of it counts. */
  read(nowNs: number, out: JointReading): TickStatus {
    const arm = this.#arm.read(nowNs, out);
    const gripper = this.#gripper.read(nowNs, this.#reading);
    out.gripper = this.#reading.position;
    out.gripperN = this.#reading.forceN;
    return gripper === 'fault' ? 'fault' : arm;
  }

  /** A late target of the gripper is replaced by the next one. */
  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    const arm = this.#arm.write(nowNs, positionsRad, gripper);
    return this.#gripper.write(nowNs, gripper) === 'fault' ? 'fault' : arm;
  }

  stop(nowNs: number): void {
    this.#arm.stop(nowNs);
    this.#gripper.stop(nowNs);
  }

  dispose(): void {
    this.#arm.dispose();
    this.#gripper.dispose();
  }
}
