import type { LinkStats } from '../wire/emulator/stats.ts';
import type { Budget, Verdict } from './budget.ts';
import type { Measured } from './measured.ts';

export interface CheckResult {
  kind: string;
  /** The path between the roles in words. */
  about: string;
  startedAt: string;
  machine: Machine;
  tracePath: string;
  measured: Measured;
  link: LinkStats | null;
  budget: Budget;
  verdicts: Verdict[];
  isCutShort: boolean;
  /** Every limit was kept, over the whole time. */
  ok: boolean;
}

/** A number says little without the machine it was measured on. */
export interface Machine {
  cpu: string;
  cores: number;
  kernel: string;
  node: string;
  /** Mean number of running threads over the last minute, when it began and when it ended. */
  loadBefore: number;
  loadAfter: number;
}
