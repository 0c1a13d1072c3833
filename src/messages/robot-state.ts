import type { MotorHealth } from './motor-health.ts';

/** The result of a tick on a device; the supervisor decides what it means. */
export const TICK_STATUSES = ['ok', 'stale', 'fault'] as const;
export type TickStatus = (typeof TICK_STATUSES)[number];

export const SUPERVISOR_STATES = ['disconnected', 'idle', 'armed', 'engaged', 'hold', 'stopped'] as const;
export type SupervisorState = (typeof SUPERVISOR_STATES)[number];

/**
 * Why the supervisor is in its state, for programs: a person chose it, the hand was not tracked, no command
 * arrived in time, the control loop stalled, or something on the robot failed.
 */
export const STATE_REASONS = ['person', 'tracking', 'silence', 'stall', 'fault'] as const;
export type StateReason = (typeof STATE_REASONS)[number];

/** What keeps the robot from following its commands, most serious last. */
export const LIMITED_BY = [
  '',
  'jerk',
  'acceleration',
  'velocity',
  'range',
  'joint-limit',
  'engage-ramp',
  'singularity',
  'backlog',
  'reach',
  'workspace',
  'collision',
] as const;
export type LimitedBy = (typeof LIMITED_BY)[number];

/** The robot as it reports itself, at 100 Hz. */
export interface RobotState {
  /** Robot clock. */
  robotNs: number;
  positionsRad: Float64Array;
  velocitiesRadS: Float64Array;
  /** The last joint target passed to the driver. */
  targetRad: Float64Array;
  gripper: number;
  /** Torque of each joint as measured, and from outside; NaN: unknown. */
  effortsNm: Float64Array;
  externalNm: Float64Array;
  /** Force of the gripper on what it holds; NaN: unknown. */
  gripperN: number;
  state: SupervisorState;
  /** Why the supervisor is in this state or limits the motion. */
  cause: string;
  why: StateReason;
  /** When it entered this state, robot clock. */
  sinceNs: number;
  epoch: number;
  /** Highest engagement that has ended: the operator must offer a higher one to move again. */
  endedEngagement: number;
  appliedSeq: number;
  /** Highest desk request executed. */
  ackRequest: number;
  limitedBy: LimitedBy;
  /** Between the two nearest surfaces that may not touch; NaN where no pair is watched. */
  clearanceM: number;
  /** Those two: `forearm ↔ base`. */
  nearest: string;
  /** Condition of the motors; NaN where the driver does not report it. */
  motors: MotorHealth;
  /** Earlier commands that each packet should repeat, by the losses the robot sees. */
  repeat: number;
  /** Joint positions of the other arm of a pair; empty: there is none; NaN: unknown. */
  otherRad: Float64Array;
  /** Playout policy, reported only by a robot whose operator may switch it. */
  playout?: string;
}
