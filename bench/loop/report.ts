import type { Percentiles } from '../../src/core/statistics/percentiles.ts';
import { type Environment, environmentText, type LoadSeen, loadText, wasQuiet } from '../environment.ts';
import { percentileTable, type TextRow } from '../text-table.ts';
import type { PathResult } from './path.ts';

export interface LoopReport {
  bench: 'loop';
  environment: Environment;
  seconds: number;
  /** How the in-process thread sleeps. */
  wait: string;
  paths: PathResult[];
  python: (PathResult & { kind: string })[];
  /** Why a Python pair is missing, or its versions. */
  checks: { kind: string; ok: boolean; versions?: string; why?: string; remedy?: string }[];
  messageBytes: number | null;
}

export interface Verdict {
  what: string;
  ratio: number;
  aim: string;
  /** Null if it is for comparison only. */
  met: boolean | null;
}

/** The minimum that document 002 reached on its local path. */
const FLOOR_MS = { p50: 2, max: 5 };
const BETTER = 4;

export function verdicts(report: LoopReport): Verdict[] {
  const at = (name: string) => report.paths.find((path) => path.name.includes(name)) ?? null;
  const two = at('two processes over UDP, 100 Hz');
  const zmq = report.python.find(({ kind }) => kind === 'zmq')?.oneWayMs;
  const found: Verdict[] = [];
  const ratio = (what: string, a: number, b: number, aim: number | null) =>
    found.push({
      what,
      ratio: a / b,
      aim: aim === null ? '' : `≤ ${aim}`,
      met: aim === null ? null : a / b <= aim,
    });
  if (two?.oneWayMs && two.messageMs && zmq) {
    ratio('ours/Python ZeroMQ, one-way p50', two.oneWayMs.p50, zmq.p50, 0.5);
    ratio('ours/Python ZeroMQ, one-way p99', two.oneWayMs.p99, zmq.p99, 0.5);
    ratio('ours/Python ZeroMQ, message only p50', two.messageMs.p50, zmq.p50, null);
    ratio('ours/Python ZeroMQ, message only p99', two.messageMs.p99, zmq.p99, null);
    const plain = at('in the clear')?.oneWayMs;
    if (plain) {
      ratio('ours in the clear/Python ZeroMQ, one-way p50', plain.p50, zmq.p50, 0.5);
      ratio('ours in the clear/Python ZeroMQ, one-way p99', plain.p99, zmq.p99, 0.5);
    }
  }
  for (const [label, path] of [
    ['in one process', at('in one process, 100 Hz')],
    ['two processes', two],
  ] as const) {
    if (!path?.oneWayMs) continue;
    ratio(
      `${label}/document 002 floor, median of ${FLOOR_MS.p50} ms`,
      path.oneWayMs.p50,
      FLOOR_MS.p50,
      1 / BETTER,
    );
    ratio(`${label}/document 002 floor, max of ${FLOOR_MS.max} ms`, path.oneWayMs.max, FLOOR_MS.max, 1);
  }
  return found;
}

export function loopText(report: LoopReport): string {
  const all = [...report.paths, ...report.python];
  const sections = [
    environmentText(report.environment),
    percentileTable(
      'One-way, ms',
      all.map((path) => row(path.name, path.oneWayMs, path.applied)),
    ),
    notes(report),
    ...all.map(pathText),
    verdicts(report).map(verdictText).join('\n'),
  ];
  return `${sections.join('\n\n')}\n`;
}

function notes({ checks, messageBytes, seconds, wait }: LoopReport): string {
  const lines = [
    `${seconds} s per path after a warm-up. Farhand: sampled → driver written, with mapping, inverse kinematics,`,
    `supervisor and trace. Python: publish → parsed, nothing else${messageBytes ? `; ${messageBytes} bytes of JSON` : ''}.`,
  ];
  if (wait === 'atomics') lines.push('In one process: no FFI here, so the thread sleeps by Atomics.wait.');
  for (const { kind, ok, versions, why, remedy } of checks)
    lines.push(
      ok ? `Python ${kind}: ${versions}` : `Python ${kind}: not measured, ${why}. To measure it: ${remedy}`,
    );
  return lines.join('\n');
}

function pathText(path: PathResult): string {
  const segments = Object.entries(path.segmentsMs).map(([name, reported]) =>
    row(`  ${name}`, reported ?? null),
  );
  const rows = [row('one-way', path.oneWayMs, path.applied), ...segments];
  if ('pipeline' in path.segmentsMs) rows.push(row('message only (serialise to receive)', path.messageMs));
  if (path.clockErrorMs && path.clockErrorMs.max > 0)
    rows.push(row('error of the estimated clock offset', path.clockErrorMs));
  const lost = `${path.commands} sent, ${path.lost} lost, ${path.rejected} rejected, ${path.dropped} dropped as stale`;
  return `${percentileTable(path.name, rows)}\n${lost}; ${loadsText(path.load)}`;
}

/** The load of the busiest run stands for the path. */
function loadsText(loads: readonly LoadSeen[]): string {
  const worst = [...loads].sort((a, b) => (b.otherPercent ?? 0) - (a.otherPercent ?? 0))[0];
  if (worst === undefined) return 'load unknown';
  const quiet = loads.filter(wasQuiet).length;
  return `${loadText(worst)}${loads.length > 1 ? ` (worst of ${loads.length} turns, ${quiet} quiet)` : ''}`;
}

function verdictText({ what, ratio, aim, met }: Verdict): string {
  const judged = met === null ? '' : ` (aim ${aim}: ${met ? 'met' : 'missed'})`;
  return `${what} ${ratio.toFixed(2)}${judged}`;
}

function row(label: string, percentiles: Percentiles | null, count?: number): TextRow {
  return count === undefined ? { label, percentiles } : { label, percentiles, count };
}
