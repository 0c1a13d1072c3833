import { openSync, writeSync } from 'node:fs';
import { number, oneOf, perJoint, struct } from '../core/memory/struct-layout.ts';
import type { MotorHealth } from '../messages/motor-health.ts';
import { TICK_STATUSES, type TickStatus } from '../messages/robot-state.ts';
import type { Driver, HandOver, JointReading, WorldPort } from './driver.ts';

const DRIVER_CALLS = ['enable', 'read', 'write', 'stop'] as const;
export type DriverCall = (typeof DRIVER_CALLS)[number];

/** One call in the log file. The layout is a file format. */
export const DRIVER_LOG = struct({
  call: oneOf(DRIVER_CALLS, null),
  status: oneOf(TICK_STATUSES, null),
  robotNs: number,
  /** Measured for a `read`, target for a `write`, else NaN. */
  jointsRad: perJoint,
});

/**
 * Logs every call of a driver as a `DRIVER_LOG` record of little-endian doubles. For trials only: every call
 * writes to the file, so that the log survives a kill of this process.
 */
export class LoggedDriver implements Driver {
  readonly #driver: Driver;
  readonly #fd: number;
  readonly #record;
  readonly #bytes: Uint8Array;

  constructor(driver: Driver, file: string, joints: number) {
    this.#driver = driver;
    this.#fd = openSync(file, 'a');
    this.#record = DRIVER_LOG.create(joints);
    this.#bytes = new Uint8Array(this.#record.packed.buffer);
  }

  get fault(): string {
    return this.#driver.fault;
  }

  get busErrors(): number {
    return this.#driver.busErrors ?? 0;
  }

  get health(): MotorHealth | undefined {
    return this.#driver.health;
  }

  get handOver(): HandOver | undefined {
    return this.#driver.handOver;
  }

  get world(): WorldPort | null | undefined {
    return this.#driver.world;
  }

  enable(nowNs: number): TickStatus {
    return this.#log('enable', this.#driver.enable(nowNs), nowNs, null);
  }

  read(nowNs: number, out: JointReading): TickStatus {
    const status = this.#driver.read(nowNs, out);
    return this.#log('read', status, nowNs, status === 'ok' ? out.positionsRad : null);
  }

  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus {
    return this.#log('write', this.#driver.write(nowNs, positionsRad, gripper), nowNs, positionsRad);
  }

  stop(nowNs: number): void {
    this.#driver.stop(nowNs);
    this.#log('stop', 'ok', nowNs, null);
  }

  dispose(): void {
    this.#driver.dispose();
  }

  #log(call: DriverCall, status: TickStatus, nowNs: number, jointsRad: Float64Array | null): TickStatus {
    const record = this.#record;
    record.call = call;
    record.status = status;
    record.robotNs = nowNs;
    if (jointsRad === null) record.jointsRad.fill(Number.NaN);
    else record.jointsRad.set(jointsRad);
    try {
      writeSync(this.#fd, this.#bytes);
    } catch {
      // A trial without its log fails anyway; the robot keeps running.
    }
    return status;
  }
}
