import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { TrialRig } from './trial-rig.ts';
import type { TrialSettings } from './trial-settings.ts';

/** What docs/SAFETY.md promises about a fault. */
export interface Expected {
  /** States that the robot goes through after the fault. */
  through?: readonly SupervisorState[];
  /** Where it is in the end; `gone`: its process is what was killed. */
  ends: readonly (SupervisorState | 'gone')[];
  /** The arm rests within this of the fault; null: it follows on. */
  restMs: number | null;
  /** A line that some process prints, or `farhand ask` shows; null: there is nothing to tell. */
  message: RegExp | null;
  /** Most of the newest trace lines that may be missing, in milliseconds of the session (default 0). */
  lostMs?: number;
}

export interface Allowed {
  /** The wall clock of this machine may be set. */
  stepClock: boolean;
}

export interface Fault {
  name: string;
  /** As the table shows it. */
  what: string;
  /** About how long its trial takes, start and end included. */
  seconds: number;
  settings?: TrialSettings;
  expected: Expected;
  /** Why it cannot be tried here; null: it can. */
  obstacle?: (allowed: Allowed) => string | null;
  /** Causes it and waits for what follows. */
  run(rig: TrialRig): Promise<void>;
}

/** How long after a fault the arm may move: playout 60 ms, the watchdog's 100, braking 60, and what a busy machine adds. */
export const HOLD_REST_MS = 60 + 100 + 60 + 150;
