import { type Percentiles, percentiles } from '../../src/core/statistics/percentiles.ts';
import type { RoleReport } from '../../src/messages/role-report.ts';
import { OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';
import { percentilesMs } from '../../src/trace/milliseconds.ts';
import { oneWayNs } from '../../src/trace/segments.ts';
import type { DemoRun } from '../demo-run.ts';
import type { Environment, LoadSeen } from '../environment.ts';
import type { Check } from '../text-table.ts';
import type { Target } from './garbage.ts';
import type { FloodDone } from './sender.ts';

export interface Attack extends FloodDone {
  targets: Target[];
  dropsByPort: Record<number, number>;
}

interface Window {
  commands: number;
  lost: number;
  rejected: number;
  oneWayMs: Percentiles | null;
}

export interface FloodReport {
  bench: 'flood';
  environment: Environment;
  seconds: number;
  perSecond: number;
  achievedPerSecond: number;
  peace: Window;
  flood: Window;
  attack: Attack;
  /** Garbage the roles counted, by reason; datagrams the kernel dropped before them. */
  counted: Record<string, number>;
  kernelDrops: number;
  accountedRatio: number;
  load: LoadSeen;
  roles: RoleReport[];
}

/** Reasons under which the operator's own commands may be counted; every other reason is garbage. */
const OUR_OWN = new Set<string>([
  'clamped-range',
  'clamped-velocity',
  'driver-fault',
  'dropped-queue-full',
  'dropped-stale',
  'duplicate',
  'engage-jump',
  'future-stamp',
  'not-armed',
  'not-engaged',
  'old-engagement',
  'receipt-unknown',
  'send-failed',
  'stopped',
  'too-old',
  'tracking-lost',
  'watchdog',
  'wrong-epoch',
]);
export const isGarbage = (reason: string): boolean => !OUR_OWN.has(reason);
export const total = (entries: readonly (readonly [string, number])[]): number =>
  entries.reduce((sum, [, count]) => sum + count, 0);
const MAX_GROWTH_MS = 1;
const MIN_ACCOUNTED = 0.95;
const MIN_RATE = 0.9;

export function floodReport(
  env: Environment,
  seconds: number,
  perSecond: number,
  run: DemoRun,
  attack: Attack,
  load: LoadSeen,
): FloodReport {
  const counted: Record<string, number> = {};
  for (const { counters } of run.reports)
    for (const [reason, count] of Object.entries(counters))
      if (isGarbage(reason)) counted[reason] = (counted[reason] ?? 0) + count;
  const kernelDrops = total(Object.entries(attack.dropsByPort));
  return {
    bench: 'flood',
    environment: env,
    seconds,
    perSecond,
    achievedPerSecond: attack.sent / ((attack.endNs - attack.startNs) / 1e9),
    peace: windowOf(run.records, attack.startNs - seconds * 1e9, attack.startNs),
    flood: windowOf(run.records, attack.startNs, attack.endNs),
    attack,
    counted,
    kernelDrops,
    accountedRatio: (total(Object.entries(counted)) + kernelDrops) / Math.max(1, attack.sent),
    load,
    roles: run.reports,
  };
}

/** Commands whose tick is within the window; operator, robot and sender use the same clock. */
function windowOf(records: readonly TraceRecord[], fromNs: number, untilNs: number): Window {
  const inside = records.filter(({ sampledNs }) => sampledNs >= fromNs && sampledNs < untilNs);
  const count = (outcome: (typeof OUTCOMES)[number]) =>
    inside.filter((record) => record.outcome === OUTCOMES.indexOf(outcome)).length;
  const oneWay = inside.map((record) => oneWayNs({ ...record, offsetNs: 0 }));
  return {
    commands: inside.length,
    lost: count('lost'),
    rejected: count('rejected'),
    oneWayMs: percentilesMs(percentiles(oneWay)),
  };
}

export function checksOf(report: FloodReport): Check[] {
  const growth = (report.flood.oneWayMs?.p99 ?? Infinity) - (report.peace.oneWayMs?.p99 ?? Infinity);
  const percent = (ratio: number) => `${(100 * ratio).toFixed(1)} %`;
  return [
    {
      what: 'flood rate',
      ok: report.achievedPerSecond >= MIN_RATE * report.perSecond,
      found: `${Math.round(report.achievedPerSecond)} of ${report.perSecond} datagrams per second`,
    },
    {
      what: 'one-way p99 growth',
      ok: growth <= MAX_GROWTH_MS,
      found: `${growth.toFixed(3)} ms (at most ${MAX_GROWTH_MS} ms)`,
    },
    {
      what: 'garbage accounted for',
      ok: report.accountedRatio >= MIN_ACCOUNTED,
      found: `${percent(report.accountedRatio)} of ${report.attack.sent} (at least ${percent(MIN_ACCOUNTED)})`,
    },
  ];
}
