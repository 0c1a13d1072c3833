import { interruption } from '../interrupt.ts';
import type { Allowed, Fault } from './fault.ts';
import { complaintsAbout } from './judge.ts';
import { type Measured, measure } from './measure.ts';
import { TrialRig } from './trial-rig.ts';

export interface Outcome {
  name: string;
  what: string;
  /** Null if it was not run or its trial failed before that. */
  measured: Measured | null;
  complaints: string[];
  /** Why it was not run; empty if it was. */
  notRun: string;
}

export interface HowToTry extends Allowed {
  /** Keep the folder of the trial. */
  keep: boolean;
  /** Real-time priority of both control threads. */
  priority: number;
}

export const verdictOf = ({ complaints, notRun }: Outcome): 'PASS' | 'FAIL' | 'not run' =>
  notRun !== '' ? 'not run' : complaints.length === 0 ? 'PASS' : 'FAIL';

/** One trial, from starting its processes to ending them. */
export async function tryFault(fault: Fault, how: HowToTry): Promise<Outcome> {
  const { name, what } = fault;
  const outcome: Outcome = {
    name,
    what,
    measured: null,
    complaints: [],
    notRun: fault.obstacle?.(how) ?? '',
  };
  if (outcome.notRun !== '') return outcome;
  try {
    await measureFault(fault, outcome, how);
  } catch (error) {
    if (interruption.aborted) throw error;
    outcome.complaints.push((error as Error).message);
  }
  return outcome;
}

async function measureFault(fault: Fault, outcome: Outcome, { keep, priority }: HowToTry): Promise<void> {
  const rig = await startTrial(fault, priority);
  try {
    await fault.run(rig);
    const endState = rig.state;
    const { exitedNs } = rig.operator;
    await rig.close();
    outcome.measured = await measure(fault, rig, endState, Math.min(exitedNs, rig.endNs));
    outcome.complaints = [...complaintsAbout(fault, outcome.measured), ...rig.complaints];
  } finally {
    await rig.close();
    if (keep) console.error(`  kept in ${rig.folder}`);
    else rig.remove();
  }
}

/** A busy machine may hold or stop an arm before its fault; then the trial starts again. */
async function startTrial(fault: Fault, priority: number): Promise<TrialRig> {
  for (let left = TRIES; ; left--) {
    try {
      return await TrialRig.start(fault.settings ?? {}, priority);
    } catch (error) {
      if (left <= 1 || interruption.aborted) throw error;
    }
  }
}

const TRIES = 3;
