import { existsSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/files/package-root.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import type { VerbProcess } from '../estop/verb-process.ts';
import { type DataLost, dataLost } from './data-lost.ts';
import { type DriverLog, lastMotionNs, readDriverLog } from './driver-log.ts';
import type { Fault } from './fault.ts';
import { limitShares, type Shares } from './limits.ts';
import type { TrialRig } from './trial-rig.ts';

export interface Measured {
  /** States after the fault, in order; the previous state if there was no change. */
  states: string[];
  end: string;
  /** Of the last of them. */
  cause: string;
  restMs: number | null;
  shares: Shares;
  targets: number;
  lost: DataLost;
  message: string;
}

/** Result of a fault, from the driver's log, the processes' output and their files, after the trial has ended. */
export async function measure(
  fault: Fault,
  rig: TrialRig,
  end: string,
  operatorEndNs: number,
): Promise<Measured> {
  const model = loadModel(rig.rig.model);
  const log = existsSync(rig.logFile)
    ? readDriverLog(rig.logFile, model.joints.length)
    : { targets: [], readings: [], stopsNs: [] };
  const after = rig.changes.filter(({ atNs }) => atNs >= rig.faultNs && atNs <= rig.endNs);
  const folder = (name: string) => path.join(rig.folder, name);
  return {
    states: after.map(({ to }) => to),
    end,
    cause: after.at(-1)?.cause ?? 'no change',
    restMs: fault.expected.restMs === null ? null : restMs(rig, log),
    shares: limitShares(log.targets, model, rig.rig.robot),
    targets: log.targets.length,
    lost: await dataLost(folder('data/traces'), folder('data/recordings'), operatorEndNs),
    message: messageOf(rig, fault.expected.message),
  };
}

/** From the fault to the last motion of joints or targets before the arm is driven again. */
function restMs(rig: TrialRig, log: DriverLog): number {
  const { faultNs } = rig;
  const next = rig.changes.find(
    ({ atNs, from, to }) => atNs > faultNs && from !== 'engaged' && to === 'engaged',
  );
  const toNs = Math.min(next?.atNs ?? Number.POSITIVE_INFINITY, rig.endNs);
  const joints = rig.arm.length > 0 ? rig.arm : log.readings;
  const movedNs = Math.max(lastMotionNs(joints, faultNs, toNs), lastMotionNs(log.targets, faultNs, toNs));
  return (movedNs - faultNs) / 1e6;
}

/** The first matching line since the fault; empty if none matches. */
function messageOf(rig: TrialRig, wanted: RegExp | null): string {
  const lines = [
    ...rig.processes.flatMap((process) =>
      process.said.map(({ atNs, text }) => ({ atNs, text: reported(process, text) })),
    ),
    ...rig.received,
  ].filter(({ atNs, text }) => atNs >= rig.faultNs && !ORDERLY_END.test(text));
  lines.sort((a, b) => a.atNs - b.atNs);
  const fits = (text: string) => wanted?.test(text) ?? false;
  // Paths of this machine mean nothing to a reader.
  return (lines.find(({ text }) => fits(text))?.text ?? '')
    .replaceAll(rig.folder, '…')
    .replaceAll(packageRoot, '…');
}

/** Of the end that every trial comes to. */
const ORDERLY_END = /robot process is shutting down/;

const reported = ({ verb }: VerbProcess, text: string): string =>
  `${verb}: ${text.replace(/^farhand: /, '')}`;
