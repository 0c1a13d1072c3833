import type { z } from 'zod';
import type { TickStatus } from '../core/messages.ts';
import type { RobotModel } from '../core/robot-model.ts';

/** Joint positions as a driver reads them. Filled in place. */
export interface JointReading {
  /** Robot clock; when the values were true. */
  robotNs: number;
  positionsRad: Float64Array;
  velocitiesRadS: Float64Array;
  gripper: number;
}

/**
 * An open robot. `read` and `write` run in the control loop: they never await, throw or allocate.
 * `write` sets a joint target in radians, already inside all limits. Nothing moves before `enable`.
 */
export interface Driver {
  /** Powers the joints and holds the present pose: enabling must not move. */
  enable(nowNs: number): TickStatus;
  read(nowNs: number, out: JointReading): TickStatus;
  write(nowNs: number, positionsRad: Float64Array, gripper: number): TickStatus;
  /** Brings the robot to rest as fast as is safe and ignores writes until enabled again. Legal in any state, any number of times. */
  stop(nowNs: number): void;
  dispose(): void;
}

/** What a file in `drivers/` exports by default; its file name is the name in a rig. */
export interface DriverPlugin<C> {
  readonly about: string;
  readonly config: z.ZodType<C>;
  /** Joint names, known with no hardware attached. */
  joints(config: C, model: RobotModel): readonly string[];
  open(config: C, model: RobotModel, nowNs: number): Promise<Driver>;
}

export const emptyReading = (joints: number): JointReading => ({
  robotNs: 0,
  positionsRad: new Float64Array(joints),
  velocitiesRadS: new Float64Array(joints),
  gripper: 0,
});
