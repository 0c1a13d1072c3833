import type { RoleReport } from '../messages/role-report.ts';
import type { LinkStats } from '../wire/emulator/stats.ts';
import type { Baseline } from './baseline.ts';
import type { Place } from './place.ts';

export interface SessionOptions {
  rig: string;
  overrides: readonly string[];
  place: Place;
  /** Profile of the emulated link between the roles. */
  profile: string | null;
  /** A robot that already runs on another machine. */
  robotHost: string | null;
  durationS: number;
  /** Seconds of teleoperation before that: the JIT compiler warms up, and playout learns the link. */
  settleS: number;
  /** Port of `farhand check echo` on the robot's host; a local check runs its own echo. */
  echoPort: number;
  /** Whether to probe the path during the run. */
  baseline: boolean;
  /** Called when everything runs, before the measurement begins. */
  onReady?: () => Promise<void>;
  /** Ends the measurement early. */
  stop: Promise<unknown>;
  onPhase(text: string): void;
  onProgress(done: number, total: number): void;
}

export interface Session {
  tracePath: string;
  /** The measured part of the trace, operator's clock. */
  fromNs: number;
  toNs: number;
  /** Operator first; no robot if it runs on another machine. */
  roles: RoleReport[];
  link: LinkStats | null;
  baseline: Baseline | null;
  isCutShort: boolean;
  /** Commands per second. */
  hz: number;
}
