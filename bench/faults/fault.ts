import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { TrialRig } from './trial-rig.ts';
import type { TrialSettings } from './trial-settings.ts';

/** What docs/SAFETY.md promises about a fault. */
export interface Expected {
  /** States the robot passes through after the fault. */
  through?: readonly SupervisorState[];
  /** Final state; `gone`: the robot process was killed. */
  ends: readonly (SupervisorState | 'gone')[];
  /** The arm is at rest within this time; null: it keeps following. */
  restMs: number | null;
  /** A line that some process or `farhand ask` prints; null: none expected. */
  message: RegExp | null;
  /** How much of the end of the trace may be missing, in milliseconds (default 0). */
  lostMs?: number;
}

export interface Allowed {
  /** The wall clock of this machine may be set. */
  stepClock: boolean;
}

export interface Fault {
  name: string;
  /** Description in the table. */
  what: string;
  /** Approximate duration of its trial, including start and end. */
  seconds: number;
  settings?: TrialSettings;
  expected: Expected;
  /** Why it cannot run here; null if it can. */
  obstacle?: (allowed: Allowed) => string | null;
  /** Causes the fault and waits for its effects. */
  run(rig: TrialRig): Promise<void>;
}

/** How long the arm may move after a fault: playout 60 ms, watchdog 100, braking 60, plus delays of a busy machine. */
export const HOLD_REST_MS = 60 + 100 + 60 + 150;
