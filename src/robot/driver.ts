import type { z } from 'zod';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { TickStatus } from '../messages/robot-state.ts';

/** Joint positions as a driver reads them. Filled in place. */
export interface JointReading {
  /** Robot clock; when the values were true. */
  robotNs: number;
  positionsRad: Float64Array;
  velocitiesRadS: Float64Array;
  gripper: number;
}

/** How the write of a target ended that `write` had handed to another thread. */
export interface WriteResult {
  /** Writes count from 1. One that never gets a result was replaced by a later one before the thread took it. */
  number: number;
  /** Robot clock; when the driver's write returned. NaN if the target was not written. */
  writtenNs: number;
  /** The driver refused it; if it was not written for another reason, the joints were not powered. */
  isFault: boolean;
}

/** Where `write` only hands the target to another thread: what became of it there. */
export interface HandOver {
  /** Number of the newest write. */
  readonly newest: number;
  /** Fills in the next result, in order; false if there is no other yet. */
  next(out: WriteResult): boolean;
}

/**
 * An open robot. `enable`, `read`, `write` and `stop` are called once per control cycle from one thread: they never
 * await, throw or allocate. A driver with sockets or buses does its input and output on that thread's event loop
 * and keeps the newest reading for `read`.
 */
export interface Driver {
  /**
   * What is wrong, in words for the operator; empty while nothing is. Stays until `enable` succeeds again.
   */
  readonly fault: string;
  /** Errors its bus told of and messages of the device that were refused, since it was opened. Only grows. */
  readonly busErrors?: number;
  /** Absent where `write` itself writes. */
  readonly handOver?: HandOver | undefined;
  /**
   * Powers the joints and holds the present pose: enabling must not move. `stale` while it is under way: call it
   * again in each cycle; only after `ok` does a write have an effect. `fault` when it was refused.
   */
  enable(nowNs: number): TickStatus;
  /** The newest reading, with the instant it was true; `stale` while there is none at all. */
  read(nowNs: number, out: JointReading): TickStatus;
  /** Sets a joint target in radians, already inside all limits. */
  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus;
  /** Brings the robot to rest as fast as is safe and ignores writes until enabled again. Legal in any state, any number of times. */
  stop(nowNs: number): void;
  dispose(): void;
}

/** What `drivers/<name>/index.ts` exports by default; the folder's name is the name in a rig. */
export interface DriverPlugin<C> {
  readonly about: string;
  readonly config: z.ZodType<C>;
  /** Does no input or output: may run on the control thread itself. Any other gets a thread of its own. */
  readonly inline?: (config: C) => boolean;
  open(config: C, model: RobotModel, clock: Clock): Promise<Driver>;
}

export const emptyReading = (joints: number): JointReading => ({
  robotNs: 0,
  positionsRad: new Float64Array(joints),
  velocitiesRadS: new Float64Array(joints),
  gripper: 0,
});
