/**
 * What a simulated controller moves. Without one, its joints have no mass and nothing is in their way. Joint positions
 * are those of the arm's model, SI units.
 */
export interface Plant {
  readonly positionsRad: Float64Array;
  readonly velocitiesRadS: Float64Array;
  /** Torque of each drive. */
  readonly effortsNm: Float64Array;
  /** Force and torque on the flange from outside, in the base frame. */
  readonly wrench: Float64Array;
  /** 1 is closed. */
  readonly gripper: number;
  /** Force of the gripper on what it holds. */
  readonly gripperN: number;
  /** The most that the drive of a joint may push; 0: the joint is limp. */
  limitEffort(joint: number, nm: number): void;
  /** Follows the controller's own set-point for `dtS` seconds. */
  step(dtS: number, wantedRad: ArrayLike<number>, gripper: number): void;
}
