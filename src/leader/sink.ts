/** Where a leader's pose is sent, cycle by cycle. */
export interface LeaderSink {
  /** For the first output line: `RCTP 127.0.0.1:8888`. */
  readonly name: string;
  /** All motors answered: the joints' ticks, then the gripper's. */
  take(ticks: Float64Array, seconds: number): Promise<void>;
  /** They no longer answer, or the leader ends. */
  lose(seconds: number): Promise<void>;
  close(): void;
}
