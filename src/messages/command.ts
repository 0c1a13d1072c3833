/** One joint-space command as it crosses the link. */
export interface JointCommand {
  /** Random per operator start: a restart is a new session with its own sequence. */
  session: number;
  seq: number;
  /** Number of the engagement this command belongs to, counted by the operator; 0 = not engaged. */
  engagement: number;
  /** Robot's safety epoch the operator acts under; a reset of the e-stop voids older ones. */
  epoch: number;
  tracking: boolean;
  /** The leader's get_state tick, operator clock. */
  stateOperatorNs: number;
  /** The same instant on the robot's clock; NaN before the first clock offset. */
  stateRobotNs: number;
  /** Grows when the operator began its clock relation anew: a step between two commands is then explicit. */
  syncEpoch: number;
  positionsRad: Float64Array;
  gripper: number;
}
