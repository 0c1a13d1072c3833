import type { Percentiles } from '../core/statistics/percentiles.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { type Hop, SEGMENTS } from '../messages/trace-record.ts';
import type { SegmentReport } from './distribution.ts';
import { formatMs } from './milliseconds.ts';
import type { TraceFileInfo } from './read-file.ts';
import { OUTER_HOPS, type TraceReport } from './report.ts';
import { notesOf } from './report-notes.ts';
import type { TraceHeader } from './stamps.ts';
import { TOUCH_SEGMENTS } from './touch.ts';
import { clockText, spellText, verdictOf } from './verdict.ts';
import { VIDEO_SEGMENTS } from './video.ts';

/** The report as plain text. `files` are the parts read; `columns` is the terminal width. */
export function reportText(report: TraceReport, files: readonly TraceFileInfo[] = [], columns = 120): string {
  const rows: Row[] = [
    row('End to end', 'sampled → applied', report.oneWay),
    ...SEGMENTS.map((name) => row(...HOP_WORDS[name], report.segments[name])),
    ...OUTER_HOPS.filter((name) => (report.outerHops[name].latencyNs?.max ?? 0) > 0).map((name) =>
      row(...HOP_WORDS[name], report.outerHops[name]),
    ),
  ];
  if (report.handToMotionNs !== null)
    rows.push(
      row('Hand to motion', 'sampled → moved', { latencyNs: report.handToMotionNs, variationNs: null }),
    );
  const sections = [
    facts(report, files),
    table(rows, columns),
    ...videoLines(report),
    ...touchLines(report),
    ...spellLines(report),
  ];
  const notes = notesOf(report, files);
  if (notes.length > 0) sections.push(notes.map((note) => `Note: ${note}.`));
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

interface Row {
  label: string;
  path: string;
  cells: string[];
}

/** Label and end stamps of each hop, for people. */
export const HOP_WORDS: Record<Hop, [label: string, path: string]> = {
  capture: ['Capture', 'sampled → sent'],
  uplink: ['Headset uplink', 'sent → arrived'],
  wait: ['Wait for tick', 'arrived → sampled'],
  pipeline: ['Operator pipeline', 'sampled → pipeline_done'],
  serialise: ['Serialise & send', 'pipeline_done → wire_sent'],
  wire: ['Wire', 'wire_sent → kernel_received'],
  receive: ['Robot receive', 'kernel_received → receive'],
  playout: ['Playout wait', 'receive → released'],
  apply: ['Robot apply', 'released → applied'],
  response: ['Arm response', 'applied → moved'],
};

const MAX_SPELLS = 10;

function spellLines({ feel, sessionStartsNs }: TraceReport): string[][] {
  const { spells } = feel;
  if (spells.length === 0) return [];
  const shown = [...spells].sort((a, b) => b.deviating - a.deviating).slice(0, MAX_SPELLS);
  const left = spells.length + feel.spellsLeftOut - shown.length;
  const title = left > 0 ? `Bad periods, the worst ${shown.length} of ${shown.length + left}` : 'Bad periods';
  const lines = shown.map(
    (spell) =>
      `  ${clockText(spell.startNs - sessionStartsNs[spell.session]!).padStart(7)}  ${spellText(spell)}`,
  );
  return [[`${title}:`, ...lines]];
}

function videoLines({ video }: TraceReport): string[][] {
  return video.map(({ camera, frames, totalNs, segmentsNs, clockUncertaintyNs: clock }) => [
    `Camera ${camera}: ${frames} pictures sampled, captured → displayed ${wordsOf(totalNs)}` +
      (clock === null ? '' : `; clock ±${formatMs(clock.p50)}, ±${formatMs(clock.max)} at worst`),
    ...VIDEO_SEGMENTS.map((name) => `  ${name.padEnd(9)} ${wordsOf(segmentsNs[name])}`),
  ]);
}

function touchLines({ touch }: TraceReport): string[][] {
  if (touch === null) return [];
  const { pulses, totalNs, segmentsNs, clockUncertaintyNs: clock } = touch;
  return [
    [
      `Touch: ${pulses} pulses, contact read → pulse ${wordsOf(totalNs)}` +
        (clock === null ? '' : `; clock ±${formatMs(clock.p50)}, ±${formatMs(clock.max)} at worst`),
      ...TOUCH_SEGMENTS.map((name) => `  ${name.padEnd(9)} ${wordsOf(segmentsNs[name])}`),
    ],
  ];
}

const wordsOf = (p: Percentiles | null): string => {
  const [p50, p95, p99, max] = cellsOf(p);
  return `p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms`;
};

const HEADINGS = ['p50', 'p95', 'p99', 'max', 'p50', 'p95', 'p99', 'max'];

function row(label: string, path: string, reported: SegmentReport): Row {
  return { label, path, cells: [...cellsOf(reported.latencyNs), ...cellsOf(reported.variationNs)] };
}

function cellsOf(p: Percentiles | null): string[] {
  return p === null ? ['–', '–', '–', '–'] : [p.p50, p.p95, p.p99, p.max].map(formatMs);
}

/** With enough room the stamps are beside the numbers, otherwise in a list below. */
function table(rows: Row[], columns: number): string[] {
  const labelWidth = Math.max(...rows.map(({ label }) => label.length));
  const widths = HEADINGS.map((heading, i) =>
    Math.max(heading.length, ...rows.map(({ cells }) => cells[i]!.length)),
  );
  const line = (label: string, cells: string[]) =>
    label.padEnd(labelWidth) +
    cells.map((cell, i) => `${i % 4 === 0 ? ' ' : ''} ${cell.padStart(widths[i]!)}`).join('');
  const halfWidth = 1 + widths.slice(0, 4).reduce((sum, width) => sum + width + 1, 0);
  const heads = [
    `${' '.repeat(labelWidth + 2)}${'latency (ms)'.padEnd(halfWidth)}variation (ms)`,
    line('', HEADINGS),
  ];
  const lines = rows.map(({ label, cells }) => line(label, cells));
  const pathWidth = Math.max(...rows.map(({ path }) => path.length));
  if (columns >= lines[0]!.length + 2 + pathWidth)
    return [...heads, ...rows.map(({ path }, i) => `${lines[i]}  ${path}`)];
  return [...heads, ...lines, '', ...rows.map(({ label, path }) => `${label.padEnd(labelWidth)}  ${path}`)];
}

/** The transport of the link, if the rig names it. */
export function routeText({ rig }: TraceHeader): string {
  const { transport } = (rig?.['link'] ?? {}) as Record<string, unknown>;
  return typeof transport === 'string' ? `, over ${transport}` : '';
}

function facts(report: TraceReport, files: readonly TraceFileInfo[]): string[] {
  const header = files[0]?.header;
  const lines = files.map(({ path }, i) => `${i === 0 ? 'Trace     ' : '          '}${path}`);
  if (header)
    lines.push(
      `Started   ${header.startedAt}, ${header.role}, ${header.stampSource} stamps${routeText(header)}${schedulingText(header)}`,
    );
  lines.push(
    `Duration  ${durationText(report)}`,
    `Commands  ${countsText(report)}`,
    `Clock     ${uncertaintyText(report)}`,
  );
  const playout = playoutText(report, header?.playout);
  if (playout !== '') lines.push(`Playout   ${playout}`);
  const filter = report.filterDelayNs;
  if (filter !== null && filter.max > 0) lines.push(`Filter    ${filterText(filter)}`);
  const motion = report.motionLatencyNs;
  if (motion !== null)
    lines.push(`Motion    joints lag behind commands by ${wordsOf(motion)} (sampled → reached)`);
  const { bunches } = report;
  if (bunches.bunches > 0) lines.push(`Blocked   ${bunchText(report)}`);
  if (report.feel.windows > 0) lines.push(`Feel      ${feelText(report)}`);
  return lines;
}

/** TCP delivers in order: one lost segment holds back what was sent after it. */
function bunchText({ bunches: { bunches, commands, longestNs }, commands: all }: TraceReport): string {
  const times = bunches === 1 ? 'once' : `${bunches} times`;
  return (
    `${times} commands arrived together with an earlier one that they waited for: ${commands} commands ` +
    `(${((100 * commands) / all).toFixed(2)} %), longest after ${formatMs(longestNs)} ms on the wire`
  );
}

const schedulingText = ({ scheduling }: TraceHeader): string =>
  scheduling === undefined ? '' : `, scheduling ${scheduling}`;

function durationText({ durationNs, commands }: TraceReport): string {
  const seconds = durationNs / NS_PER_S;
  const rate = durationNs > 0 ? `, ${((commands - 1) / seconds).toFixed(1)} commands per second` : '';
  if (seconds < 60) return `${seconds.toFixed(2)} s${rate}`;
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return `${hours > 0 ? `${hours} h ` : ''}${minutes} min ${whole % 60} s${rate}`;
}

function countsText(report: TraceReport): string {
  const reasons = Object.entries(report.rejectedBy).sort((a, b) => b[1] - a[1]);
  const why = reasons.length > 0 ? ` (${reasons.map(([reason, n]) => `${reason} ${n}`).join(', ')})` : '';
  const loss = report.lossRatio === null ? '' : ` (${(report.lossRatio * 100).toFixed(2)} %)`;
  return (
    `${report.commands} closed: ${report.applied} applied (${report.late} late), ${report.dropped} dropped as stale, ` +
    `${report.rejected} rejected${why}, ${report.lost} lost${loss}`
  );
}

function uncertaintyText({ clockUncertaintyNs: clock }: TraceReport): string {
  if (clock === null) return 'offset uncertainty unknown';
  return `offset known to ±${formatMs(clock.max)} ms at worst, ±${formatMs(clock.last)} ms at the end`;
}

function feelText(report: TraceReport): string {
  const { headline, sentences } = verdictOf(report);
  const { strictWindows, longestLateRun, holds, stops, refused } = report.feel;
  const halts = `${holds} holds, ${stops} stops, ${refused} refused`;
  return `${headline}; ${strictWindows} strict, longest late run ${longestLateRun}; ${halts}.\n          ${sentences.join(' ')}`;
}

function filterText({ p50, p99, max }: Percentiles): string {
  return `the hand filter adds p50 ${formatMs(p50)}, p99 ${formatMs(p99)}, max ${formatMs(max)} ms before sampled, not in the table`;
}

function playoutText(report: TraceReport, policy: string | undefined): string {
  const parts = policy === undefined ? [] : [policy];
  const { playoutDelayNs: delay, playoutLatenessNs: late, queueDepth } = report;
  if (delay) {
    const [p50, p95, p99, max] = cellsOf(delay);
    parts.push(`delay p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms after the stamp`);
  }
  if (queueDepth) parts.push(`queue depth p50 ${queueDepth.p50}, max ${queueDepth.max}`);
  const first = parts.join('; ');
  if (!late) return first;
  const applied = `applied − due p50 ${formatMs(late.p50)}, p99 ${formatMs(late.p99)}, max ${formatMs(late.max)} ms`;
  return first === '' ? applied : `${first};\n          ${applied}`;
}
