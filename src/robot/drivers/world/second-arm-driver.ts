import type { TickStatus } from '../../../messages/robot-state.ts';
import { OPEN_M } from '../../../world/gripper-body.ts';
import type { SecondArm } from '../../../world/work-world.ts';
import type { Driver, JointReading, WorldPort } from '../../driver.ts';
import type { WorldDriver } from './world-driver.ts';

/** The right arm in a world of two. The driver of the left one steps the world; both run on one thread. */
export class SecondArmDriver implements Driver {
  readonly world: WorldPort;
  readonly #host: WorldDriver;
  readonly #arm: SecondArm;
  #enabled = false;
  #disposed = false;

  constructor(host: WorldDriver, arm: SecondArm) {
    this.#host = host;
    this.#arm = arm;
    this.world = {
      read: (out) => (this.#disposed ? '' : host.report(out, arm)),
      request: (task, seed) => host.world.request(task, seed),
    };
  }

  get fault(): string {
    return this.#host.isDisposed ? 'the world has ended with the left arm' : '';
  }

  get #isGone(): boolean {
    return this.#disposed || this.#host.isDisposed;
  }

  enable(nowNs: number): TickStatus {
    if (this.#isGone) return 'fault';
    this.#host.advance(nowNs);
    if (!this.#enabled) this.#hold();
    this.#enabled = true;
    return 'ok';
  }

  read(nowNs: number, out: JointReading): TickStatus {
    if (this.#isGone) return 'fault';
    this.#host.advance(nowNs);
    const { port } = this.#arm;
    out.robotNs = nowNs;
    for (let i = 0; i < port.joints; i++) {
      out.positionsRad[i] = port.qpos[i]!;
      out.velocitiesRadS[i] = port.qvel[i]!;
    }
    port.servoEffort(out.effortsNm);
    port.externalEffort(out.externalNm);
    out.gripperN = port.sense.gripForceN;
    out.gripper = Math.max(0, Math.min(1, 1 - port.openingM / OPEN_M));
    return 'ok';
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    if (this.#isGone) return 'fault';
    this.#host.advance(nowNs);
    if (this.#enabled) this.#arm.servo.target(positionsRad, gripper);
    return 'ok';
  }

  stop(nowNs: number): void {
    if (this.#isGone) return;
    this.#host.advance(nowNs);
    if (this.#enabled) this.#hold();
    this.#enabled = false;
  }

  dispose(): void {
    this.#disposed = true;
  }

  #hold(): void {
    const { port, servo } = this.#arm;
    servo.hold(port.qpos, port.ctrl[port.joints]!);
  }
}
