import type { PlayoutMode } from '../../messages/playout-request.ts';
import type { Preset } from './adaptive/parameters.ts';
import type { PriorJson } from './adaptive/prior.ts';

/** Earlier commands that each packet repeats; `auto`: as many as the robot asks for. */
export type Redundancy = number | 'auto';

/** Decides when a command is applied. Sans I/O: the same object serves the live robot and a replay. */
export interface PlayoutPolicy {
  readonly name: string;
  /**
   * Due time on the robot's clock. `sampledRobotNs` is when the hand was sampled, on that clock, NaN until the first
   * clock offset. May be in the past: the command is then late and released immediately. Hot path.
   * Call it once per new command, in order of arrival; commands of one packet in order of their stamps.
   * `syncEpoch` announces a new clock relation if the wire carries it. `isRepeated`: its own packet was lost and a
   * later one repeated it.
   */
  schedule(sampledRobotNs: number, receivedNs: number, syncEpoch?: number, isRepeated?: boolean): number;
  /**
   * The operator's request: a quality and a cap on the delay above the floor, null for no request. The
   * robot's own cap remains the limit. The delay moves to the new value by time warp.
   */
  request?(quality: Preset | null, capMs: number | null): void;
  /** Selects another playout mode, if there are several; null returns to the robot's own. */
  choose?(mode: PlayoutMode | null): void;
  /**
   * A new peer: forgets the clock relation. Without `prior`, keeps what was learnt about the network; with
   * one, starts from it; null means an unknown network.
   */
  restart?(prior?: PriorJson | null): void;
  /** For telemetry. Delay of the newest command after its stamp; NaN before the first. */
  readonly delayNs?: number;
  /** Smallest recent apparent delay, including the clock error; NaN before the first stamp. */
  readonly floorNs?: number;
  /** Wait above the floor that the policy considers necessary. */
  readonly needNs?: number;
  /** What the next session on this network should start from; the caller saves it. */
  exportPrior?(): PriorJson;
}
