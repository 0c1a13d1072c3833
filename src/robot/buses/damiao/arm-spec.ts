import type { ControlMode } from './frames.ts';
import type { MotorType } from './motors.ts';

/** One motor of an arm. */
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
  /** Speed limit under position–velocity and position–force. */
  velocityRadS: number;
  /** Position–force: share of the maximum current. */
  currentShare: number;
  /** motor = direction · joint + offset. */
  direction: 1 | -1;
  offsetRad: number;
}

export interface GripperSpec {
  motor: MotorSpec;
  openRad: number;
  closedRad: number;
  /** Find the open end by stalling, at the first enable; null: use the motor's own zero. */
  homing: { velocityRadS: number; currentShare: number } | null;
}

/**
 * What motors do on stop. hold: stay powered in place. damp: sink slowly. disable: cut power, the arm drops.
 */
export const STOP_KINDS = ['hold', 'damp', 'disable'] as const;
export type StopKind = (typeof STOP_KINDS)[number];

/** An arm of Damiao motors on one bus. */
export interface ArmSpec {
  joints: readonly MotorSpec[];
  gripper: GripperSpec | null;
  /** CAN FD frames with bit rate switch. */
  fd: boolean;
  dataBitrate: number;
  onStop: StopKind;
  /** Send the target velocity to the motor (MIT), so that damping does not slow it. */
  feedForward: boolean;
  feedbackTimeoutMs: number;
  /** Accept limits that do not match the motor's type. */
  acceptAnyLimits: boolean;
}
