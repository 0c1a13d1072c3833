import type { RoleReport } from '../messages/role-report.ts';
import type { LinkStats } from '../wire/emulator/stats.ts';
import type { Baseline } from './baseline.ts';
import type { Place } from './place.ts';

export interface SessionOptions {
  rig: string;
  overrides: readonly string[];
  place: Place;
  /** A link of the emulator between the roles. */
  profile: string | null;
  /** The robot of another machine, which runs already. */
  robotHost: string | null;
  durationS: number;
  /** Seconds of teleoperation before that: compilers warm up, playout gets to know the link. */
  settleS: number;
  /** Port of `farhand check echo` at a robot's host; the harness has an echo of its own otherwise. */
  echoPort: number;
  /** Whether to probe the path besides. */
  baseline: boolean;
  /** Ends the measurement before its time. */
  stop: Promise<unknown>;
  onPhase(text: string): void;
  onProgress(done: number, total: number): void;
}

export interface Session {
  tracePath: string;
  /** What of the trace was measured: operator's clock. */
  fromNs: number;
  toNs: number;
  /** Operator first; no robot where it is another machine's. */
  roles: RoleReport[];
  link: LinkStats | null;
  baseline: Baseline | null;
  isCutShort: boolean;
  /** Commands per second. */
  hz: number;
}
