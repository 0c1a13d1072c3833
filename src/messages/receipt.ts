/** How a command ended, as written in a trace. `rejected:<reason>` carries a counted reason. */
export type Outcome = 'applied' | 'late' | 'dropped-stale' | 'lost' | `rejected:${string}`;

/** The robot's stamps of one command, robot clock; NaN where a stage was not reached. */
export interface Receipt {
  session: number;
  seq: number;
  outcome: Outcome;
  kernelNs: number;
  receiveNs: number;
  dueNs: number;
  releasedNs: number;
  appliedNs: number;
  /** Delay after its stamp at which playout scheduled it; NaN when it was never scheduled. */
  playoutDelayNs: number;
  queueDepth: number;
  /** Arrived after it was due. */
  late: boolean;
  /** Never applied because a newer command was. */
  dropped: boolean;
}
