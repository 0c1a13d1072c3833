import type { z } from 'zod';
import type { Clock } from '../core/time/clock.ts';
import type { RobotModel } from '../geometry/robot-model.ts';
import type { MotorHealth } from '../messages/motor-health.ts';
import type { TickStatus } from '../messages/robot-state.ts';
import type { WorldState } from '../messages/world-state.ts';

/** Joint positions as a driver reads them. Filled in place. */
export interface JointReading {
  /** Robot clock: when the values were measured. */
  robotNs: number;
  positionsRad: Float64Array;
  velocitiesRadS: Float64Array;
  gripper: number;
  /** Torque of each joint as its drive measures it. NaN, as given: the driver does not know. */
  effortsNm: Float64Array;
  /** Torque on each joint from outside, for a driver that knows it. NaN, as given: it does not. */
  externalNm: Float64Array;
  /** Force of the gripper on what it holds. NaN, as given: unknown. */
  gripperN: number;
}

/** Result of a write that `write` handed to another thread. */
export interface WriteResult {
  /** Writes count from 1. A write without a result was replaced by a later one before the thread took it. */
  number: number;
  /** When the driver's write returned, on the robot clock. NaN if the target was not written. */
  writtenNs: number;
  /** The driver rejected the target. If false and not written, the joints were not powered. */
  isFault: boolean;
}

/** Results of writes, for a driver whose `write` only hands the target to another thread. */
export interface HandOver {
  /** Number of the newest write. */
  readonly newest: number;
  /** Fills in the next result, in order; false if there is none yet. */
  next(out: WriteResult): boolean;
}

/** The world of a driver that simulates one. */
export interface WorldPort {
  /** Fills `out` and returns the task's name; empty before the first state. */
  read(out: WorldState): string;
  /** Starts a task over, soon: empty keeps the task, null takes the next seed. An unknown task is ignored. */
  request(task: string, seed: number | null): void;
}

/**
 * An open robot. `enable`, `read`, `write` and `stop` are called once per control cycle from one thread: they never
 * await, throw or allocate. A driver with sockets or buses does its I/O on that thread's event loop
 * and keeps the newest reading for `read`.
 */
export interface Driver {
  /**
   * The fault as text for the operator; empty if there is none. Stays until `enable` succeeds again.
   */
  readonly fault: string;
  /** Bus errors and rejected device messages since it was opened. Only grows. */
  readonly busErrors?: number;
  /** Condition of the motors, updated in place; absent for drivers that do not know it. */
  readonly health?: MotorHealth | undefined;
  /** Absent if `write` itself writes. */
  readonly handOver?: HandOver | undefined;
  /** Absent or null: what the robot moves in is unknown. */
  readonly world?: WorldPort | null | undefined;
  /**
   * Powers the joints and holds the present pose: enabling must not move. Returns `stale` while in progress:
   * call it again each cycle; writes take effect only after `ok`. Returns `fault` if it failed.
   */
  enable(nowNs: number): TickStatus;
  /** The newest reading with the time it was measured; `stale` while there is none. */
  read(nowNs: number, out: JointReading): TickStatus;
  /** Sets a joint target in radians, already within all limits. */
  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus;
  /**
   * Brings the robot to rest as fast as is safe, then ignores writes until enabled again. May be called in
   * any state, any number of times.
   */
  stop(nowNs: number): void;
  dispose(): void;
}

/** The default export of `drivers/<name>/index.ts`; the folder name is the driver's name in a rig. */
export interface DriverPlugin<C> {
  readonly about: string;
  readonly config: z.ZodType<C>;
  /** True if it does no I/O, so it may run on the control thread. Otherwise the driver gets its own thread. */
  inline?(config: C): boolean;
  open(config: C, model: RobotModel, clock: Clock): Promise<Driver>;
}

export const emptyReading = (joints: number): JointReading => ({
  robotNs: 0,
  positionsRad: new Float64Array(joints),
  velocitiesRadS: new Float64Array(joints),
  gripper: 0,
  effortsNm: new Float64Array(joints).fill(Number.NaN),
  externalNm: new Float64Array(joints).fill(Number.NaN),
  gripperN: Number.NaN,
});
