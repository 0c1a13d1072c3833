import type { Percentiles } from '../core/statistics/percentiles.ts';
import { writeWhole } from '../files/write-whole.ts';
import { type Feel, feelFigures } from '../trace/feel.ts';
import { reportText } from '../trace/report-text.ts';
import { wireVerdict } from './advice.ts';
import type { BaselineLeg } from './baseline.ts';
import type { Verdict } from './budget.ts';
import type { Measured } from './measured.ts';
import type { CheckResult } from './result.ts';

export interface ReportFiles {
  text: string;
  json: string;
  /** Path for an HTML page. */
  html: string;
}

/** Paths of the reports of a trace. */
function reportFiles(tracePath: string): ReportFiles {
  const stem = tracePath.replace(/\.jsonl$/, '');
  return { text: `${stem}.check.txt`, json: `${stem}.check.json`, html: `${stem}.check.html` };
}

/** Writes the report beside its trace, as text and as JSON. */
export function writeReport(result: CheckResult): ReportFiles {
  const files = reportFiles(result.tracePath);
  const options = { hint: 'Choose another folder for traces and reports: trace.dir=FOLDER.' };
  writeWhole(files.text, checkText(result), options);
  writeWhole(files.json, `${JSON.stringify(checkJson(result), null, 2)}\n`, options);
  return files;
}

export function checkJson(result: CheckResult): object {
  const { measured, budget, verdicts, ...rest } = result;
  const { summary, felt, wireBadWindows, transitMs, softwareMs, baseline, spikes, roles, durationS, hz } =
    measured;
  const { notes = [], clockUncertaintyMs = null, tosThere = null, tosBack = null } = baseline ?? {};
  const leg = (from: BaselineLeg | null | undefined) => {
    if (!from) return null;
    const { samples: _, ...reported } = from;
    return reported;
  };
  return {
    ...rest,
    durationS,
    hz,
    summary,
    felt: felt && feltJson(felt),
    wireBadWindows,
    transitMs,
    softwareMs,
    baseline: baseline && {
      udp: leg(baseline.udp),
      icmp: leg(baseline.icmp),
      notes,
      clockUncertaintyMs,
      tosThere,
      tosBack,
    },
    spikes,
    budget: { name: budget.name, notJudged: budget.notJudged, verdicts },
    roles,
  };
}

const feltJson = (feel: Feel) => ({ ...feelFigures(feel), spells: feel.spells });

export function checkText(result: CheckResult, columns = 120): string {
  const { kind, about, startedAt, machine, measured } = result;
  const head = [
    `Check     ${kind}: ${about}`,
    `Machine   ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}`,
    `Started   ${startedAt}, load ${machine.loadBefore} before, ${machine.loadAfter} after`,
  ];
  const short = result.isCutShort ? ['', 'Ended early: not a valid measurement.'] : [];
  return [
    ...head,
    '',
    reportText(measured.report, measured.files, columns).trimEnd(),
    '',
    ...baselineLines(measured),
    ...shareLines(measured),
    '',
    ...budgetLines(result),
    ...short,
    '',
  ].join('\n');
}

const four = (p: Percentiles): string =>
  `p50 ${p.p50.toFixed(3)}, p95 ${p.p95.toFixed(3)}, p99 ${p.p99.toFixed(3)}, max ${p.max.toFixed(3)} ms one way`;

function baselineLines(measured: Measured): string[] {
  const { baseline } = measured;
  if (baseline === null) return ['Probes    none'];
  const lines = [baseline.udp, baseline.icmp].flatMap((leg) =>
    leg?.oneWayMs ? [`Probes    ${leg.method}: ${four(leg.oneWayMs)}; ${leg.lost} of ${leg.sent} lost`] : [],
  );
  lines.push(...baseline.notes.map((note) => `Probes    ${note}`));
  return [...lines, `Verdict   ${wireVerdict(measured)}`];
}

function shareLines({ felt, wireBadWindows, transitMs, softwareMs }: Measured): string[] {
  const transit = transitMs && `Transit   without playout delay: ${four(transitMs)}`;
  const software = softwareMs && `Software  without wire and playout: ${four(softwareMs)}`;
  const short = felt === null ? 'Feel      not judged (needs 12 s, including settling)' : null;
  const wire = `Wire      ${wireBadWindows} seconds in which more than 5 % of the commands took over 10 ms on the wire`;
  return [transit, software, wire, short].filter((line) => line !== null);
}

function budgetLines({ budget, verdicts }: CheckResult): string[] {
  const broken = verdicts.filter((verdict) => !verdict.ok).length;
  const withheld = verdicts.filter((verdict) => verdict.withheld !== null).length;
  const open = withheld === 0 ? '' : `, ${withheld} not judged`;
  const met = withheld === 0 ? 'all limits met' : 'no limit exceeded';
  const count = `${broken === 0 ? met : `${broken} of ${verdicts.length} limits exceeded`}${open}`;
  const lines = [`Budget    ${budget.name}: ${count}`, ...verdicts.flatMap(verdictLines)];
  for (const name of budget.notJudged) lines.push(`  –       ${name} not judged: the run was too short`);
  return lines;
}

function verdictLines(verdict: Verdict): string[] {
  const { limit, unit, allowed, isLeast, measured, ok, withheld, advice } = verdict;
  if (withheld !== null) {
    const [low, high] = withheld.map((value) => value.toFixed(unit === '' ? 0 : 3));
    const range = `between ${low} and ${high}${unit && ` ${unit}`}`;
    return [
      `  –       ${limit.padEnd(19)} not judged: ${range}, by the clock’s uncertainty`,
      `          → ${advice}`,
    ];
  }
  const sign = isLeast ? (ok ? '≥' : '<') : ok ? '≤' : '>';
  const digits = unit === 'ms' ? 3 : unit === '%' ? 2 : 0;
  const value = measured === null ? 'not measured' : `${measured.toFixed(digits)}${unit && ` ${unit}`}`;
  const line = `  ${ok ? 'ok    ' : 'FAILED'}  ${limit.padEnd(19)} ${value.padStart(12)} ${measured === null ? '≠' : sign} ${allowed}${unit && ` ${unit}`}`;
  return ok ? [line] : [line, `          → ${advice}`];
}
