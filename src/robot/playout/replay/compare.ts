import { MAX_REDUNDANCY } from '../../../wire/codecs/command.ts';
import type { Redundancy } from '../playout-policy.ts';
import { createPolicy } from '../policy.ts';
import { constantOracle, smoothOracle } from './oracle.ts';
import { replay } from './replay.ts';
import { type Score, scoreOf } from './score.ts';
import type { DelayTrace } from './trace.ts';

export interface ComparedTrace {
  name: string;
  /** By policy, and by `oracle smooth` and `oracle constant`; null if too few commands were applied. */
  scores: Record<string, Score | null>;
}

export const COMPARED_POLICIES = [
  'none',
  'fixed:60',
  'rfc3550',
  'neteq',
  'adaptive:fast',
  'adaptive',
  'adaptive:smooth',
] as const;

/** Work of the constant oracle relative to a policy's. */
const ORACLE_SHARE = 8;

/** An oracle repeats as much as it may. */
const mostOf = (redundancy: Redundancy): number => (redundancy === 'auto' ? MAX_REDUNDANCY : redundancy);

/** Runs every policy and both oracles on one trace. `onProgress` gets the share done, 0 … 1. */
export function compareTrace(
  trace: DelayTrace,
  redundancy: Redundancy,
  onProgress: (share: number) => void = () => {},
): ComparedTrace {
  const total = ORACLE_SHARE + 1 + COMPARED_POLICIES.length;
  const scores: ComparedTrace['scores'] = {};
  scores['oracle constant'] = constantOracle(trace, mostOf(redundancy));
  onProgress(ORACLE_SHARE / total);
  scores['oracle smooth'] = smoothOracle(trace, mostOf(redundancy));
  COMPARED_POLICIES.forEach((text, i) => {
    scores[text] = scoreOf(
      trace,
      replay(trace, createPolicy(text, { redundancy }), redundancy),
      redundancy !== 0,
    );
    onProgress((ORACLE_SHARE + 2 + i) / total);
  });
  return { name: trace.name, scores };
}
