import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';
import type { RoleReport } from '../messages/role-report.ts';
import { SEGMENTS, type TraceRecord } from '../messages/trace-record.ts';
import { type Feel, FeelMeter } from '../trace/feel.ts';
import { readTraceParts, type TraceFileInfo } from '../trace/read-file.ts';
import { createReport, summaryOf, type TraceReport, type TraceSummary } from '../trace/report.ts';
import { segmentsNs } from '../trace/segments.ts';
import { type Baseline, bestLeg } from './baseline.ts';
import type { Session } from './session.ts';

/** Results of a check: the figures from its trace, and the probes of the same path. */
export interface Measured {
  durationS: number;
  hz: number;
  report: TraceReport;
  summary: TraceSummary;
  files: TraceFileInfo[];
  roles: RoleReport[];
  /** How steady it felt; null if the run was too short. */
  felt: Feel | null;
  /** One-second windows whose 95th percentile on the wire exceeds 10 ms; lost commands count as above. */
  wireBadWindows: number;
  /** The same if every command was faster, or slower, by the uncertainty of the clock. */
  wireBadRange: [low: number, high: number];
  /** One-way time without playout delay. */
  transitMs: Percentiles | null;
  /** One-way time without wire and playout: the share of our software. */
  softwareMs: Percentiles | null;
  baseline: Baseline | null;
  spikes: Spikes | null;
}

/** Commands that were slow on the wire, and how many of those moments the probes saw too. */
export interface Spikes {
  commands: number;
  shared: number;
}

/** The score skips ten seconds, which may include settling, and needs a window after them. */
export const FELT_LEAST_S = 12;
const WARM_NS = 10e9;
const WINDOW_NS = 1e9;
const WIRE_LIMIT_NS = 10e6;
const SPIKE_NS = 5e6;
const NEAR_NS = 30e6;
const WIRE = SEGMENTS.indexOf('wire');
const PLAYOUT = SEGMENTS.indexOf('playout');

export async function measuredOf(session: Session): Promise<Measured> {
  const records: TraceRecord[] = [];
  const { fromNs, toNs, baseline, roles, hz } = session;
  const files = await readTraceParts(session.tracePath, (record) => {
    if (record.sampledNs >= fromNs - WARM_NS && record.sampledNs < toNs) records.push(record);
  });
  const durationS = (toNs - fromNs) / 1e9;
  return { ...judged(records, fromNs, hz, baseline), durationS, files, roles, baseline };
}

/** Computes the figures from the records; those before `fromNs` only warm up the score. */
export function judged(
  records: readonly TraceRecord[],
  fromNs: number,
  hz: number,
  baseline: Baseline | null,
): Omit<Measured, 'durationS' | 'files' | 'roles' | 'baseline'> {
  const all = records.toSorted((a, b) => a.seq - b.seq);
  const bySeq = all.filter((record) => record.sampledNs >= fromNs);
  const report = createReport();
  for (const record of bySeq) report.add(record);
  const felt = feltOf(all);
  const finished = report.finish();
  const reported = felt === null ? finished : { ...finished, feel: felt };
  const wireNs = new Float64Array(bySeq.length);
  const software: number[] = [];
  const transit: number[] = [];
  const segments = new Float64Array(SEGMENTS.length);
  bySeq.forEach((record, i) => {
    segmentsNs(record, segments);
    wireNs[i] = segments[WIRE]!;
    const moved = segments.reduce((sum, ns, k) => (k === PLAYOUT ? sum : sum + ns), 0) / 1e6;
    transit.push(moved);
    software.push(moved - segments[WIRE]! / 1e6);
  });
  const errorNs = reported.clockUncertaintyNs?.max ?? 0;
  return {
    hz,
    report: reported,
    summary: summaryOf(reported),
    felt,
    wireBadWindows: countWireBad(bySeq, wireNs, 0),
    wireBadRange: [countWireBad(bySeq, wireNs, -errorNs), countWireBad(bySeq, wireNs, errorNs)],
    transitMs: percentiles(transit),
    softwareMs: percentiles(software),
    spikes: spikesOf(bySeq, wireNs, baseline),
  };
}

/** Judged as in every report; settling counts towards the ten seconds that are skipped. */
function feltOf(records: readonly TraceRecord[]): Feel | null {
  const meter = new FeelMeter();
  for (const record of records) meter.add(record, 0);
  meter.finish();
  const feel = meter.verdict();
  return feel.windows === 0 ? null : feel;
}

function countWireBad(records: readonly TraceRecord[], wireNs: Float64Array, errorNs: number): number {
  const windows = new Map<number, { all: number; over: number }>();
  const startNs = records[0]?.sampledNs ?? 0;
  records.forEach((record, i) => {
    const at = Math.floor((record.sampledNs - startNs) / WINDOW_NS);
    const window = windows.get(at) ?? { all: 0, over: 0 };
    window.all++;
    // Unknown counts too: a lost command did not arrive within 10 ms.
    if (!(wireNs[i]! + errorNs <= WIRE_LIMIT_NS)) window.over++;
    windows.set(at, window);
  });
  return [...windows.values()].filter(({ all, over }) => over > 0.05 * all).length;
}

/** A spike is more than 5 ms above the median; a probe shares it if it was slow and sent within 30 ms of it. */
function spikesOf(
  records: readonly TraceRecord[],
  wireNs: Float64Array,
  baseline: Baseline | null,
): Spikes | null {
  const samples = bestLeg(baseline)?.samples ?? [];
  const middleNs = median(wireNs.filter(Number.isFinite));
  const middleMs = median(Float64Array.from(samples, ({ ms }) => ms));
  if (middleNs === null || middleMs === null) return null;
  const slowProbes = samples.filter(({ ms }) => (ms - middleMs) * 1e6 > SPIKE_NS / 2).map(({ atNs }) => atNs);
  slowProbes.sort((a, b) => a - b);
  let commands = 0;
  let shared = 0;
  let at = 0;
  records.forEach(({ wireSentNs }, i) => {
    if (!(wireNs[i]! - middleNs > SPIKE_NS)) return;
    commands++;
    while (at < slowProbes.length && slowProbes[at]! < wireSentNs - NEAR_NS) at++;
    if (at < slowProbes.length && slowProbes[at]! <= wireSentNs + NEAR_NS) shared++;
  });
  return { commands, shared };
}

function median(values: Float64Array): number | null {
  if (values.length === 0) return null;
  return values.sort()[values.length >> 1]!;
}
