import type { LinkStats } from '../wire/emulator/stats.ts';
import type { Budget, Verdict } from './budget.ts';
import type { Measured } from './measured.ts';

export interface CheckResult {
  kind: string;
  /** Describes the path between the roles. */
  about: string;
  startedAt: string;
  machine: Machine;
  tracePath: string;
  measured: Measured;
  link: LinkStats | null;
  budget: Budget;
  verdicts: Verdict[];
  isCutShort: boolean;
  /** All limits were met, and the run was not cut short. */
  ok: boolean;
}

/** The machine that a result was measured on. */
export interface Machine {
  cpu: string;
  cores: number;
  kernel: string;
  node: string;
  /** One-minute load average at the start and at the end. */
  loadBefore: number;
  loadAfter: number;
}
