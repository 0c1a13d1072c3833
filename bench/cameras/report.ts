import { type Percentiles, percentiles, variation } from '../../src/core/statistics/percentiles.ts';
import type { TraceRecord } from '../../src/messages/trace-record.ts';
import { percentilesMs } from '../../src/trace/milliseconds.ts';
import { oneWayNs } from '../../src/trace/segments.ts';
import { type Environment, environmentText, type LoadSeen, loadText } from '../environment.ts';
import { type Check, checkText, percentileTable } from '../text-table.ts';

import type { PictureCost } from './picture-cost.ts';
import type { Recorded } from './recorded.ts';

/** p99 with cameras divided by p99 without. */
const MAX_RATIO = 1.15;
const MAX_ADDED_MS = 1;
const CAMERAS_HZ = 30;
/** The first pictures arrive some time after the robot starts to follow. */
const MAX_SKIPPED_SHARE = 0.05;

interface HalfReport {
  commands: number;
  oneWayMs: Percentiles | null;
  variationMs: Percentiles | null;
  /** p99 of each run, which shows how much of a difference is chance. */
  p99PerRunMs: (number | null)[];
}

/** One camera over all runs. */
interface RecordedReport {
  camera: string;
  /** Of the run with the fewest. */
  leastFrames: number;
  kilobytes: Percentiles | null;
  ageMs: Percentiles | null;
}

export interface CamerasReport {
  bench: 'cameras';
  environment: Environment;
  seconds: number;
  costs: PictureCost[];
  without: HalfReport;
  with: HalfReport;
  oneWayP99Ratio: number | null;
  variationP99Ratio: number | null;
  /** One-way p99 with cameras and recorder minus p99 without. */
  addedP99Ms: number | null;
  recorded: { rows: number; skippedRows: number; cameras: RecordedReport[] };
  load: LoadSeen;
}

export function camerasReport(
  environment: Environment,
  seconds: number,
  costs: PictureCost[],
  measured: Measured,
  load: LoadSeen,
): CamerasReport {
  const [plain, filmed] = [halfReport(measured.without), halfReport(measured.with)];
  return {
    bench: 'cameras',
    environment,
    seconds,
    costs,
    without: plain,
    with: filmed,
    oneWayP99Ratio: ratio(filmed.oneWayMs, plain.oneWayMs),
    variationP99Ratio: ratio(filmed.variationMs, plain.variationMs),
    addedP99Ms: plain.oneWayMs && filmed.oneWayMs ? filmed.oneWayMs.p99 - plain.oneWayMs.p99 : null,
    recorded: recordedReport(measured.recorded),
    load,
  };
}

function recordedReport(runs: readonly Recorded[]): CamerasReport['recorded'] {
  const names = [...new Set(runs.flatMap(({ cameras }) => cameras.map(({ camera }) => camera)))];
  return {
    rows: runs.reduce((sum, { rows }) => sum + rows, 0),
    skippedRows: runs.reduce((sum, { skippedRows }) => sum + skippedRows, 0),
    cameras: names.map((camera) => {
      const kept = runs.map(({ cameras }) => cameras.filter((each) => each.camera === camera));
      return {
        camera,
        leastFrames: Math.min(...kept.map((each) => each.reduce((sum, { frames }) => sum + frames, 0))),
        kilobytes: percentiles(kept.flat().flatMap(({ kilobytes }) => kilobytes)),
        ageMs: percentiles(kept.flat().flatMap(({ agesMs }) => agesMs)),
      };
    }),
  };
}

const ratio = (a: Percentiles | null, b: Percentiles | null): number | null =>
  a && b ? a.p99 / b.p99 : null;

function halfReport(runs: readonly TraceRecord[][]): HalfReport {
  const oneWay = runs.map((records) =>
    records.map((record) => oneWayNs({ ...record, offsetNs: 0 })).filter(Number.isFinite),
  );
  // Not across two runs.
  const changes = oneWay.flatMap((values) => [...variation(values)]);
  return {
    commands: runs.reduce((sum, records) => sum + records.length, 0),
    oneWayMs: percentilesMs(percentiles(oneWay.flat())),
    variationMs: percentilesMs(percentiles(changes)),
    p99PerRunMs: oneWay.map((values) => {
      const p99 = percentiles(values)?.p99;
      return p99 === undefined ? null : p99 / 1e6;
    }),
  };
}

export function checksOf(report: CamerasReport): Check[] {
  const ratioCheck = (what: string, value: number | null): Check => ({
    what: `${what}, p99 with cameras / without`,
    ok: value !== null && value <= MAX_RATIO,
    found: `${value?.toFixed(2) ?? '–'} (at most ${MAX_RATIO})`,
  });
  const { cameras, rows, skippedRows } = report.recorded;
  const least = cameras.length === 0 ? 0 : Math.min(...cameras.map(({ leastFrames }) => leastFrames));
  const wanted = Math.round(0.9 * CAMERAS_HZ * report.seconds);
  return [
    ratioCheck('one-way', report.oneWayP99Ratio),
    ratioCheck('variation', report.variationP99Ratio),
    {
      what: 'one-way p99 added by cameras and recorder',
      ok: report.addedP99Ms !== null && report.addedP99Ms < MAX_ADDED_MS,
      found: `${report.addedP99Ms?.toFixed(3) ?? '–'} ms (less than ${MAX_ADDED_MS})`,
    },
    {
      what: 'pictures recorded',
      ok: least >= wanted,
      found: `${least} by the slowest camera of a run (at least ${wanted})`,
    },
    {
      what: 'rows skipped',
      ok: rows > 0 && skippedRows <= MAX_SKIPPED_SHARE * (rows + skippedRows),
      found: `${skippedRows} of ${rows + skippedRows} (at most ${100 * MAX_SKIPPED_SHARE} %)`,
    },
  ];
}

export function camerasText(report: CamerasReport, checks: readonly Check[]): string {
  const { without, with: filmed, recorded } = report;
  const sizes = recorded.cameras.map(({ kilobytes }) => kilobytes?.p50 ?? 0);
  const costs = report.costs.map(({ what, ms, kilobytes }) => ({
    label: kilobytes === null ? what : `${what} (${kilobytes.toFixed(0)} kB)`,
    percentiles: ms,
  }));
  const p99s = (half: HalfReport) => half.p99PerRunMs.map((ms) => ms?.toFixed(3) ?? '–').join(', ');
  return `${environmentText(report.environment)}

${percentileTable('One picture, ms', costs)}

${percentileTable('The loop, ms', [
  { label: 'one-way, without', percentiles: without.oneWayMs, count: without.commands },
  { label: 'one-way, with', percentiles: filmed.oneWayMs, count: filmed.commands },
  { label: 'variation, without', percentiles: without.variationMs },
  { label: 'variation, with', percentiles: filmed.variationMs },
  ...recorded.cameras.map(({ camera, ageMs }) => ({ label: `age of ${camera}`, percentiles: ageMs })),
])}
p99 one-way of each run: without ${p99s(without)}; with ${p99s(filmed)}
Pictures of ${Math.min(...sizes).toFixed(0)} to ${Math.max(...sizes).toFixed(0)} kB; ${loadText(report.load)}

${checks.map(checkText).join('\n')}

${checks.every(({ ok }) => ok) ? 'Cameras and recorder add no latency.' : 'Cameras FAILED.'}`;
}

export interface Measured {
  /** Completed commands per run, without the warm-up. */
  without: TraceRecord[][];
  with: TraceRecord[][];
  /** Recordings of the runs with cameras. */
  recorded: Recorded[];
}
