import { openSync, writeSync } from 'node:fs';
import type { TickStatus } from '../messages/robot-state.ts';
import type { Driver, HandOver, JointReading } from './driver.ts';

/** Calls in the log, by their number. */
export const DRIVER_CALLS = ['enable', 'read', 'write', 'stop'] as const;
export type DriverCall = (typeof DRIVER_CALLS)[number];
const STATUSES = ['ok', 'stale', 'fault'] as const satisfies readonly TickStatus[];

/** Numbers before the joints: call, status, robot clock. */
export const LOG_HEAD = 3;

/**
 * A driver whose calls are written down, each as little-endian doubles: number of the call, number of its status, instant
 * on the robot's clock, joints in radians (measured of a `read`, target of a `write`, else NaN). For trials: every call
 * costs a write to the file, which thereby survives a kill of this process.
 */
export class LoggedDriver implements Driver {
  readonly #driver: Driver;
  readonly #fd: number;
  readonly #record: Float64Array;
  readonly #bytes: Uint8Array;

  constructor(driver: Driver, file: string, joints: number) {
    this.#driver = driver;
    this.#fd = openSync(file, 'a');
    this.#record = new Float64Array(LOG_HEAD + joints);
    this.#bytes = new Uint8Array(this.#record.buffer);
  }

  get fault(): string {
    return this.#driver.fault;
  }

  get busErrors(): number {
    return this.#driver.busErrors ?? 0;
  }

  get handOver(): HandOver | undefined {
    return this.#driver.handOver;
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
    record[0] = DRIVER_CALLS.indexOf(call);
    record[1] = STATUSES.indexOf(status);
    record[2] = nowNs;
    if (jointsRad === null) record.fill(Number.NaN, LOG_HEAD);
    else record.set(jointsRad, LOG_HEAD);
    try {
      writeSync(this.#fd, this.#bytes);
    } catch {
      // A trial without its log fails by itself; the robot goes on.
    }
    return status;
  }
}
