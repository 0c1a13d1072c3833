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
  /** When the operator's tick sampled the hand, operator clock. On the wire `state_ns`. */
  sampledOperatorNs: number;
  /** The same instant on the robot's clock (on the wire `send_robot_ns`); NaN before the first clock offset. */
  sampledRobotNs: number;
  /**
   * Increases when the operator restarted its clock relation, which makes a step between two commands
   * explicit.
   */
  syncEpoch: number;
  /** How old the hand sample was at that tick. On the wire `age_ns`. */
  ageNs: number;
  positionsRad: Float64Array;
  gripper: number;
}
