import path from 'node:path';
import { loadLinkTrace } from '../../src/app/link-emulator.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import type { TraceRecord } from '../../src/messages/trace-record.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { createPolicy } from '../../src/robot/playout/policy.ts';
import { type Applied, replay } from '../../src/robot/playout/replay/replay.ts';
import {
  effectiveLatencyMs,
  type Score,
  scoreOf,
  steadyTargetsMs,
} from '../../src/robot/playout/replay/score.ts';
import type { DelayTrace } from '../../src/robot/playout/replay/trace.ts';
import { demoRun } from '../demo-run.ts';
import { badTracking, TrackingTap } from './tracking.ts';

/** Like in the score, the first ten seconds do not count. */
const WARM_NS = 10e9;
const MOST_MM = 5;
/** Back and forth at up to 0.38 m/s: 5 mm are 13 ms. The elbow comes near the base, which does not matter here. */
const FAST_HAND = [
  ...['periodS=3', 'widthM=0.18', 'heightM=0.02'].map((text) => `operator.inputs.scripted.${text}`),
  'robot.slowdownM=0.006',
  'robot.stopM=0.005',
];

export interface LiveRun {
  policy: string;
  commands: number;
  /** As the robot applied it. */
  live: Score;
  /** The same arrivals through the same policy in replay, and through `none`. */
  replayed: Score;
  replayedNone: Score;
  tracking: { windows: number; bad: number; worstMm: number };
  /** Timing error of the emulator's deliveries. */
  linkErrorP99Ms: number;
}

export const traceFile = (name: string): string =>
  path.join(packageRoot, 'test', 'data', 'delay-traces', `${name}.csv.gz`);

/** Operator and robot as two processes with a recorded link between them, measured from outside. */
export async function liveRun(
  trace: string,
  policy: string,
  seconds: number,
  extra: string[] = [],
): Promise<LiveRun> {
  const overrides = [
    `robot.playout=${policy}`,
    'robot.stateHz=200',
    'link.security=plain',
    ...FAST_HAND,
    ...extra,
  ];
  const { config: rig } = loadRig('demo', overrides);
  const tap = new TrackingTap(loadModel(rig.model));
  const { records, link } = await demoRun({
    overrides,
    durationS: seconds,
    link: { trace: loadLinkTrace(traceFile(trace)), returnProfile: 'ethernet', onEntry: tap.onEntry },
  });
  const { arrivals, applied, startNs } = arrivalsOf(records);
  const latencyMs = effectiveLatencyMs(arrivals, applied.applyUs);
  const tracked = steadyTargetsMs(arrivals, applied, latencyMs).map((steadyMs) => {
    const delayMs = (operatorNs: number) => {
      const tick = Math.round((operatorNs - startNs) / 1e7);
      return steadyMs[Math.max(0, Math.min(steadyMs.length - 1, tick))]!;
    };
    return badTracking(tap.errorsMm(delayMs, rig.robot), startNs + WARM_NS, MOST_MM);
  });
  return {
    policy,
    commands: records.length,
    live: scoreOf(arrivals, applied)!,
    replayed: scoreOf(arrivals, replay(arrivals, createPolicy(policy)))!,
    replayedNone: scoreOf(arrivals, replay(arrivals, createPolicy('none')))!,
    tracking: tracked.sort((a, b) => a.bad - b.bad || a.worstMm - b.worstMm)[0]!,
    linkErrorP99Ms: link!.forward.errorMs!.p99,
  };
}

/**
 * A trace file in the scorer's terms. Both processes share this machine's clock, so the offset that the robot estimated
 * is the error of its stamps, and the replay must see the same.
 */
function arrivalsOf(records: readonly TraceRecord[]): {
  arrivals: DelayTrace;
  applied: Applied;
  startNs: number;
} {
  const bySeq = records.toSorted((a, b) => a.seq - b.seq);
  const startNs = bySeq[0]!.sampledNs;
  const column = (value: (record: TraceRecord) => number) => Float64Array.from(bySeq, value);
  const us = (ns: number) => Math.round(ns) / 1000;
  const sampledRobotNs = ({ sampledNs, offsetNs }: TraceRecord) =>
    sampledNs + (Number.isNaN(offsetNs) ? 0 : offsetNs);
  return {
    startNs,
    arrivals: {
      name: 'live',
      count: bySeq.length,
      sendUs: column((record) => us(sampledRobotNs(record) - startNs)),
      delayUs: column((record) => us(record.receiveNs - sampledRobotNs(record))),
      clockMs: column((record) => us(sampledRobotNs(record) - record.sampledNs) / 1000),
    },
    applied: {
      applyUs: column(({ appliedNs }) => us(appliedNs - startNs)),
      delayUs: column((record) => us(record.dueNs - sampledRobotNs(record))),
      late: 0,
      dropped: 0,
    },
  };
}
