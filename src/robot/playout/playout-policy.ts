import type { PlayoutMode } from '../../messages/playout-request.ts';
import type { Preset } from './adaptive/parameters.ts';
import type { PriorJson } from './adaptive/prior.ts';

/** When a command is to be applied. Sans-I/O: the same object serves the live robot and a replay. */
export interface PlayoutPolicy {
  readonly name: string;
  /**
   * Due time on the robot's clock. `sampledRobotNs` is when the hand was sampled, on that clock, NaN until the first
   * clock offset. May be in the past: the command is then late and released at once. Hot path.
   * Call it once per command not seen before, in the order of arrival; commands of one packet in the order of
   * their stamps. `syncEpoch` makes a new clock relation explicit where the wire carries it.
   */
  schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number): number;
  /**
   * What the operator asks for: a quality and a cap of the delay above the floor, null for no request. The robot's own
   * cap stays the limit. The delay in force moves there by time warp.
   */
  request?(quality: Preset | null, capMs: number | null): void;
  /** Another playout mode, where this is a choice of several; null goes back to the robot's own. */
  choose?(mode: PlayoutMode | null): void;
  /**
   * A new peer: forget the clock relation. Without `prior` keep what was learnt about the network; with one begin
   * from it, null being a network never seen.
   */
  restart?(prior?: PriorJson | null): void;
  /** For telemetry. Delay of the newest command after its stamp; NaN before the first. */
  readonly delayNs?: number;
  /** Least recent apparent delay, the clock error included; NaN before the first stamp. */
  readonly floorNs?: number;
  /** Wait above the floor that the policy holds to be needed. */
  readonly needNs?: number;
  /** What the next session on this network should begin with; the caller keeps it. */
  exportPrior?(): PriorJson;
}
