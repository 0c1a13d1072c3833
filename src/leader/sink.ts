/** Where a leader's pose is sent, cycle by cycle. */
export interface LeaderSink {
  /** For the first output line: `RCTP 127.0.0.1:8888`. */
  readonly name: string;
  /** Whether the person wants the robot to follow. */
  readonly follows: boolean;
  /** All motors answered. `open`: the gripper's, 1 open. */
  take(jointsRad: Float64Array, open: number, seconds: number): Promise<void>;
  /** They no longer answer, or the leader ends. */
  lose(seconds: number): Promise<void>;
  close(): void;
}
