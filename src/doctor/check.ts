import type { Probe } from './probe.ts';

/** One thing the doctor looked at. */
export interface Finding {
  name: string;
  /** `good`; `note`: works, with a loss; `bad`: needs a change. */
  verdict: 'good' | 'note' | 'bad';
  /** What was found, measured where it can be. */
  found: string;
  /** Why it matters, in milliseconds where that can be said; empty when all is well. */
  why: string;
  /** The command or setting that mends it; empty when all is well. */
  fix: string;
  /** What `--fix` would do; only what can be taken back, and is gone at the next start of the machine. */
  repairs?: readonly Repair[];
}

/** A change of this machine's running state, and how to take it back. */
export type Repair =
  | { kind: 'write'; path: string; value: string; previous: string }
  | { kind: 'run'; command: readonly string[]; undo: readonly string[] };

/** Reads and judges; changes nothing. */
export type Check = (probe: Probe) => Promise<Finding[]>;

export const good = (name: string, found: string): Finding => ({
  name,
  verdict: 'good',
  found,
  why: '',
  fix: '',
});

export interface Remark {
  found: string;
  why: string;
  fix: string;
  repairs?: readonly Repair[];
}

export const note = (name: string, remark: Remark): Finding => ({ name, verdict: 'note', ...remark });
export const bad = (name: string, remark: Remark): Finding => ({ name, verdict: 'bad', ...remark });
