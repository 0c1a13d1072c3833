import type { Percentiles } from '../core/statistics/percentiles.ts';
import type { Hop } from '../messages/trace-record.ts';
import { haltsText } from '../trace/feel.ts';
import { HOP_WORDS } from '../trace/report-text.ts';
import type { ProfileSecond, ProfileSnapshot } from './live-profile.ts';

export interface FrameOptions {
  columns: number;
  rows: number;
  colour: boolean;
  /** Seconds since the last write to the trace; large once the run has ended. */
  idleS: number;
}

const LEVELS = '▁▂▃▄▅▆▇█';
const MIN_COLUMNS = 40;

/** One terminal screen as lines, at most `columns` wide and `rows` high. */
export function topFrame(snapshot: ProfileSnapshot, options: FrameOptions): string[] {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const ink = inks(options.colour);
  const lines = [
    ...headLines(snapshot, options, ink),
    '',
    ...strip(snapshot.seconds, columns, ink),
    '',
    ...table(snapshot, columns, ink),
    ...spellLines(snapshot, ink),
  ];
  return lines.slice(0, Math.max(4, options.rows)).map((line) => clipped(line, columns));
}

type Ink = Record<'bold' | 'soft' | 'good' | 'fair' | 'bad', (text: string) => string>;

function inks(colour: boolean): Ink {
  const ink = (code: number) => (text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { bold: ink(1), soft: ink(2), good: ink(32), fair: ink(33), bad: ink(31) };
}

function headLines(snapshot: ProfileSnapshot, { idleS }: FrameOptions, ink: Ink): string[] {
  const { feel, outcomes } = snapshot;
  const name = snapshot.file.split(/[\\/]/).at(-1) ?? '';
  const live = idleS > 3 ? ink.fair(`no data for ${Math.round(idleS)} s`) : ink.good('live');
  const judged = feel.windows === 0 ? ink.soft('not judged yet (first 10 s)') : verdict(feel, ink);
  const motion = snapshot.motionLatencyMs;
  const parts = [
    `${snapshot.rateHz.toFixed(1)} commands/s`,
    `playout ${snapshot.playout}`,
    motion === null ? 'joints behind commands –' : `joints behind commands ${motion.toFixed(1)} ms`,
    snapshot.clockUncertaintyMs === null
      ? 'no clock offset'
      : `clock ±${snapshot.clockUncertaintyMs.toFixed(3)} ms`,
  ];
  const counts = Object.entries(outcomes).map(([outcome, n]) => `${outcome} ${n}`);
  return [
    `${ink.bold('farhand top')}  ${name}  ${live}`,
    parts.join(' · '),
    ink.soft(counts.join(' · ')),
    `feel: ${judged}`,
  ];
}

function verdict(feel: ProfileSnapshot['feel'], ink: Ink): string {
  const halts = haltsText(feel) || 'no holds, stops or refused commands';
  const words = `${feel.badWindows} bad, ${feel.strictWindows} strict of ${feel.windows} seconds, longest late run ${feel.longestLateRun}; ${halts}`;
  return feel.badWindows > 0 ? ink.bad(words) : feel.strictWindows > 0 ? ink.fair(words) : ink.good(words);
}

/** The last seconds as bars of p95, with marks below the bad ones. */
function strip(seconds: readonly ProfileSecond[], columns: number, ink: Ink): string[] {
  const shown = seconds.slice(-(columns - 12));
  const highest = Math.max(0.001, ...shown.map(({ p95Ms }) => p95Ms ?? 0));
  const bars = shown.map(({ p95Ms, isBad, off }) => {
    const level = p95Ms === null ? ' ' : LEVELS[Math.min(7, Math.floor((8 * Math.max(0, p95Ms)) / highest))]!;
    return isBad ? ink.bad(level) : (off ?? 0) > 0 ? ink.fair(level) : level;
  });
  const marks = shown.map(({ isBad, off }) => (isBad ? ink.bad('×') : off === null ? ' ' : ink.soft('·')));
  return [
    `p95 ${highest.toFixed(1).padStart(6)} ${bars.join('')}`,
    `${'seconds'.padEnd(10)} ${marks.join('')}`,
  ];
}

function table(snapshot: ProfileSnapshot, columns: number, ink: Ink): string[] {
  const withRun = columns >= 84;
  const cells = (p: Percentiles | null) =>
    (p === null ? ['–', '–', '–', '–'] : [p.p50, p.p95, p.p99, p.max].map((ms) => ms.toFixed(3)))
      .map((cell) => cell.padStart(9))
      .join('');
  const line = (label: string, { now, run }: { now: Percentiles | null; run: Percentiles | null }) =>
    `${label.padEnd(18)}${cells(now)}${withRun ? `  ${cells(run)}` : ''}`;
  const heads = ['p50', 'p95', 'p99', 'max'].map((q) => q.padStart(9)).join('');
  const title = `${'last 10 s, ms'.padEnd(18)}${heads}${withRun ? `  ${heads}  run` : ''}`;
  const rows = snapshot.hops
    .filter((hop) => (snapshot.hopsMs[hop].run?.max ?? 0) > 0)
    .map((hop: Hop) => line(HOP_WORDS[hop][0], snapshot.hopsMs[hop]));
  return [
    ink.soft(title),
    ink.bold(line('End to end', snapshot.oneWayMs)),
    line('Variation', snapshot.variationMs),
    ...rows,
    ...(snapshot.handToMotionMs.run === null ? [] : [line('Hand to motion', snapshot.handToMotionMs)]),
  ];
}

function spellLines({ spells, seconds }: ProfileSnapshot, ink: Ink): string[] {
  if (spells.length === 0) return [];
  const newestS = seconds.at(-1)?.atS ?? 0;
  const lines = spells.toReversed().map(
    ({ atS, endS, worstMs, off, cause }) =>
      `  ${Math.max(0, newestS - endS)
        .toFixed(0)
        .padStart(
          4,
        )} s ago, ${(endS - atS).toFixed(1)} s: ${off} off, worst ${worstMs.toFixed(1)} ms: ${cause}`,
  );
  return ['', ink.bold('Bad periods'), ...lines];
}

/** Cuts a line to the visible width; colour codes do not count. */
function clipped(line: string, columns: number): string {
  let seen = 0;
  let out = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape that begins a colour
  for (const piece of line.match(/\x1b\[\d+m|./gu) ?? []) {
    if (piece.startsWith('\x1b')) out += piece;
    else if (seen < columns) {
      out += piece;
      seen++;
    }
  }
  return out;
}
