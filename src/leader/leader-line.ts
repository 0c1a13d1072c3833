/** The motors of a leader arm, on whatever bus. Joints' angles are those of the last whole `read`. */
export interface LeaderLine {
  readonly isUp: boolean;
  readonly jointsRad: Float64Array;
  /** The gripper's, 1 open. */
  readonly open: number;
  /** All motors must answer; then they move freely. Throws `robot-silent`. */
  prepare(): Promise<void>;
  /** Calls `turn` at this rate until the line is closed. */
  every(hz: number, turn: (nowNs: number) => void): void;
  /** False if a motor did not answer, or has no torque although it should. */
  read(): Promise<boolean>;
  /** Torque on, at zero; false if a motor takes none. Also after motors were lost. */
  begin(): Promise<boolean>;
  /** To be held until the next call. Hot path of the leader. */
  apply(torquesNm: Float64Array): Promise<void>;
  /** A motor is lost: those that still answer have no torque until `begin`. */
  lose(): Promise<void>;
  /** Torque off; everything that was changed is as the motor's maker left it. */
  release(): Promise<void>;
  close(): void;
}

/** What a leader's motors can do. */
export interface MotorFacts {
  /** Largest torque of each joint's motor by its maker's list. */
  stallNm(joint: number): number;
  /** Resolution of the encoders. */
  readonly stepRad: number;
}
