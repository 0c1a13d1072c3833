import { interruption } from '../interrupt.ts';
import type { Fault } from './fault.ts';
import { complaintsAbout } from './judge.ts';
import { type Measured, measure } from './measure.ts';
import { TrialRig } from './trial-rig.ts';

export interface Outcome {
  name: string;
  what: string;
  /** Null: it was not run, or its trial did not get that far. */
  measured: Measured | null;
  complaints: string[];
  /** Why it was not run; empty: it was. */
  notRun: string;
}

export const verdictOf = ({ complaints, notRun }: Outcome): 'PASS' | 'FAIL' | 'not run' =>
  notRun !== '' ? 'not run' : complaints.length === 0 ? 'PASS' : 'FAIL';

/** One trial, from starting its processes to ending them. */
export async function tryFault(fault: Fault, keep: boolean): Promise<Outcome> {
  const { name, what } = fault;
  const outcome: Outcome = { name, what, measured: null, complaints: [], notRun: fault.obstacle?.() ?? '' };
  if (outcome.notRun !== '') return outcome;
  try {
    await measureFault(fault, outcome, keep);
  } catch (error) {
    if (interruption.aborted) throw error;
    outcome.complaints.push((error as Error).message);
  }
  return outcome;
}

async function measureFault(fault: Fault, outcome: Outcome, keep: boolean): Promise<void> {
  const rig = await TrialRig.start(fault.settings ?? {});
  const end = () => void rig.close();
  interruption.addEventListener('abort', end);
  try {
    await fault.run(rig);
    const endState = rig.state;
    const { exitedNs } = rig.operator;
    await rig.close();
    outcome.measured = await measure(fault, rig, endState, Math.min(exitedNs, rig.endNs));
    outcome.complaints = [...complaintsAbout(fault, outcome.measured), ...rig.complaints];
  } finally {
    interruption.removeEventListener('abort', end);
    await rig.close();
    if (keep) console.error(`  kept in ${rig.folder}`);
    else rig.remove();
  }
}
