import type { z } from 'zod';
import type { Clock } from '../core/time/clock.ts';
import type { TickStatus } from '../messages/robot-state.ts';

/** What a gripper reports. Filled in place. */
export interface GripperReading {
  /** Robot clock: when the values were measured. */
  robotNs: number;
  /** 0 is open, 1 is closed. */
  position: number;
  /** Force on what it holds. NaN, as given: the gripper does not know. */
  forceN: number;
}

/**
 * An open gripper, used together with any arm's driver and on its thread. `enable`, `read`, `write` and `stop` are
 * called once per control cycle: they never await, throw or allocate.
 */
export interface Gripper {
  /** The fault as text for the operator; empty if there is none. Stays until `enable` succeeds again. */
  readonly fault: string;
  /** Bus errors and rejected device messages since it was opened. Only grows. */
  readonly busErrors: number;
  /**
   * Prepares the fingers to follow: enabling must not move them. Returns `stale` while in progress: call it again each
   * cycle. Returns `fault` if it failed.
   */
  enable(nowNs: number): TickStatus;
  /** The newest reading; `stale` while there is none; `fault` once per failure, until `stop` or `enable`. */
  read(nowNs: number, out: GripperReading): TickStatus;
  /** Sets the position, 0 open … 1 closed. Ignored until enabled. */
  write(nowNs: number, position: number): TickStatus;
  /**
   * Ends the fingers' motion, then ignores writes until enabled again. It keeps its grip: what it holds must not fall.
   * May be called in any state, any number of times.
   */
  stop(nowNs: number): void;
  dispose(): void;
}

/** What a gripper may use of the arm that carries it. */
export interface GripperArm {
  /** Network address of the arm's controller; empty if the arm has none. */
  readonly host: string;
}

/** The default export of `grippers/<name>/index.ts`; the folder name is the gripper's name in a rig. */
export interface GripperPlugin<C> {
  readonly about: string;
  readonly config: z.ZodType<C>;
  open(config: C, arm: GripperArm, clock: Clock): Promise<Gripper>;
}

export const emptyGripperReading = (): GripperReading => ({
  robotNs: Number.NaN,
  position: 0,
  forceN: Number.NaN,
});
