/** Where a leader's pose goes, turn by turn. */
export interface LeaderSink {
  /** For the first line: `RCTP 127.0.0.1:8888`. */
  readonly name: string;
  /** All motors answered: ticks of the joints, then the gripper's. */
  take(ticks: Float64Array, seconds: number): Promise<void>;
  /** They do not any more, or the leader ends. */
  lose(seconds: number): Promise<void>;
  close(): void;
}
