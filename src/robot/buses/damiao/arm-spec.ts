import type { ControlMode } from './frames.ts';
import type { MotorType } from './motors.ts';

/** One motor as an arm has it. */
export interface MotorSpec {
  /** For messages: the joint's name. */
  name: string;
  id: number;
  replyId: number;
  type: MotorType;
  mode: ControlMode;
  /** MIT. */
  kp: number;
  kd: number;
  /** Fastest motion under position–velocity and position–force. */
  velocityRadS: number;
  /** Position–force: share of the greatest current. */
  currentShare: number;
  /** motor = direction · joint + offset. */
  direction: 1 | -1;
  offsetRad: number;
}

export interface GripperSpec {
  motor: MotorSpec;
  openRad: number;
  closedRad: number;
  /** Where a stall tells the open end, at each first enabling; null: the motor's own zero holds. */
  homing: { velocityRadS: number; currentShare: number } | null;
}

/**
 * What motors do when the robot is stopped. hold: stay where they are, powered. damp: sink slowly. disable: let go, the
 * arm drops.
 */
export const STOP_KINDS = ['hold', 'damp', 'disable'] as const;
export type StopKind = (typeof STOP_KINDS)[number];

/** An arm of Damiao motors on one bus, whatever it is called. */
export interface ArmSpec {
  joints: readonly MotorSpec[];
  gripper: GripperSpec | null;
  /** CAN FD frames with bit rate switch. */
  fd: boolean;
  dataBitrate: number;
  onStop: StopKind;
  /** The velocity of the target is told to the motor (MIT), so that damping does not slow it. */
  feedForward: boolean;
  feedbackTimeoutMs: number;
  /** Take limits that the motor's type does not have. */
  acceptAnyLimits: boolean;
}
