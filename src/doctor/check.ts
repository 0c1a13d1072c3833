import type { Probe } from './probe.ts';

/** Result of one check. */
export interface Finding {
  name: string;
  /** `good`; `note`: works, but not at its best; `bad`: needs a change. */
  verdict: 'good' | 'note' | 'bad';
  /** What was found, measured if possible. */
  found: string;
  /** Why it matters, in milliseconds if possible; empty if good. */
  why: string;
  /** The command or setting that fixes it; empty if good. */
  fix: string;
  /** What `--fix` would do; only changes that can be undone and that a reboot reverts. */
  repairs?: readonly Repair[];
}

/** A change of this machine's running state, and how to undo it. */
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
