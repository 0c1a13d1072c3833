import { HOPS } from '../../messages/trace-record.ts';
import { CAUSE_WORDS } from '../feel-cause.ts';
import type { WindowVerdict } from '../feel-judge.ts';
import { formatMs, roundMs } from '../milliseconds.ts';
import type { TraceReport } from '../report.ts';
import type { ReportDetail, TimeBin } from '../report-detail.ts';
import { clockText } from '../verdict.ts';
import {
  bandPath,
  LEFT,
  linear,
  linePath,
  logarithmic,
  RIGHT,
  rect,
  round,
  type Scale,
  svg,
  text,
  timeTicks,
  WIDTH,
} from './svg.ts';

const MAX_CELLS = 900;
const MAX_DOTS = 240;
const SERIES_HEIGHT = 260;
const STACK_HEIGHT = 190;
const TOP = 10;
const BOTTOM = 24;

const endNsOf = ({ bins }: ReportDetail): number => bins.at(-1)?.endNs ?? 1e9;
const timeScale = (detail: ReportDetail): Scale => linear(0, endNsOf(detail), LEFT, WIDTH - RIGHT, 8);

interface Cell {
  fromNs: number;
  toNs: number;
  worst: WindowVerdict;
  seconds: number;
  bad: number;
}

/** One cell per judged second; in a long run several seconds share a cell that shows their worst. */
export function heatStrip(report: TraceReport, detail: ReportDetail): string {
  const x = timeScale(detail);
  const cells = cellsOf(report, detail);
  const band = cells.map((cell) => {
    const { worst } = cell;
    const kind = cell.bad > 0 ? 'bad' : worst.isStrict ? 'strict' : worst.deviating > 0 ? 'off' : 'good';
    const width = Math.max(1, x(cell.toNs) - x(cell.fromNs) - 0.3);
    return rect(x(cell.fromNs), 6, width, 30, `class="heat-${kind}"`, cellTitle(cell));
  });
  const judgedFrom = cells[0]?.fromNs ?? endNsOf(detail);
  const warm = rect(
    x(0),
    6,
    x(judgedFrom) - x(0),
    30,
    'class="warm"',
    'The first ten seconds of a session are not judged.',
  );
  return svg(58, 'One-second windows', warm + band.join('') + timeAxis(x, detail, 36, false));
}

function cellsOf(report: TraceReport, detail: ReportDetail): Cell[] {
  const { seconds } = report.feel;
  const per = Math.max(1, Math.ceil(seconds.length / MAX_CELLS));
  const cells: Cell[] = [];
  for (let i = 0; i < seconds.length; i += per) {
    const group = seconds.slice(i, i + per);
    const worst = group.reduce((a, b) => (b.deviating > a.deviating ? b : a));
    cells.push({
      fromNs: detail.toAxisNs(group[0]!.session, group[0]!.startNs),
      toNs: detail.toAxisNs(group.at(-1)!.session, group.at(-1)!.endNs),
      worst,
      seconds: group.length,
      bad: group.filter(({ isBad }) => isBad).length,
    });
  }
  return cells;
}

function cellTitle({ fromNs, worst, seconds, bad }: Cell): string {
  const where =
    seconds === 1
      ? `Second at ${clockText(fromNs)}`
      : `${seconds} seconds from ${clockText(fromNs)}, ${bad} bad; the worst`;
  const cause = worst.cause === null ? '' : `: ${CAUSE_WORDS[worst.cause]}`;
  return `${where}: ${worst.deviating} of ${worst.ticks} off${cause}. p50 ${formatMs(worst.p50Ns)}, p95 ${formatMs(worst.p95Ns)}, max ${formatMs(worst.maxNs)} ms`;
}

/** One-way latency over the run: median, 95th percentile and maximum, in front of the bad periods. */
export function latencySeries(report: TraceReport, detail: ReportDetail): string {
  const { bins } = detail;
  const x = timeScale(detail);
  const known = bins.filter(({ p50Ns }) => !Number.isNaN(p50Ns));
  const highest = Math.max(
    1,
    ...known.map(({ maxNs }) => maxNs / 1e6),
    ...detail.motion.map(({ latencyNs }) => latencyNs / 1e6),
  );
  const lowest = Math.max(0.05, Math.min(...known.map(({ p50Ns }) => p50Ns / 1e6), highest));
  const floor = SERIES_HEIGHT - BOTTOM;
  const y =
    highest / lowest > 12
      ? logarithmic(lowest * 0.8, highest * 1.1, floor, TOP)
      : linear(0, highest * 1.05, floor, TOP, 5);
  const at = (bin: TimeBin) => x((bin.startNs + bin.endNs) / 2);
  const line = (value: (bin: TimeBin) => number) =>
    linePath(bins.map((bin) => [at(bin), y(value(bin) / 1e6)]));
  const spread = bandPath(bins.map((bin) => [at(bin), y(bin.p50Ns / 1e6), y(bin.maxNs / 1e6)]));
  const spells = report.feel.spells.map((spell) => {
    const from = x(detail.toAxisNs(spell.session, spell.startNs));
    const to = x(detail.toAxisNs(spell.session, spell.endNs));
    return rect(from - 1, TOP, Math.max(2, to - from + 2), floor - TOP, 'class="spell"');
  });
  const every = Math.ceil(detail.motion.length / MAX_DOTS);
  const shown = detail.motion.filter((_, i) => i % every === 0);
  const motion = shown.map(
    ({ atNs, latencyNs }) =>
      `<circle cx="${round(x(atNs))}" cy="${round(y(latencyNs / 1e6))}" r="1.6" class="motion"/>`,
  );
  const body =
    valueAxis(y, 'ms') +
    spells.join('') +
    `<path d="${spread}" class="spread"/><path d="${line((bin) => bin.p95Ns)}" class="p95"/>` +
    `<path d="${line((bin) => bin.playoutNs)}" class="plan"/><path d="${line((bin) => bin.p50Ns)}" class="p50"/>` +
    motion.join('') +
    timeAxis(x, detail, floor, true) +
    `<line class="cross" y1="${TOP}" y2="${floor}" x1="-9" x2="-9"/>`;
  return svg(SERIES_HEIGHT, 'One-way latency over the run', body, 'id="series"');
}

/** Where a typical command spends its time, hop by hop. */
export function hopStack(detail: ReportDetail): string {
  const { bins } = detail;
  const x = timeScale(detail);
  const floor = STACK_HEIGHT - BOTTOM;
  const sums = bins.map(({ hopsNs }) => hopsNs.reduce((sum, ns) => sum + positive(ns), 0) / 1e6);
  const sorted = sums.toSorted((a, b) => a - b);
  const y = linear(0, Math.max(0.1, (sorted[Math.floor(0.99 * sorted.length)] ?? 1) * 1.1), floor, TOP, 4);
  const base = new Float64Array(bins.length);
  const layers = HOPS.map((name, hop) => {
    const points = bins.map((bin, i) => {
      const low = base[i]!;
      base[i] = low + positive(bin.hopsNs[hop]!) / 1e6;
      const isKnown = bin.applied > 0;
      const place = (ms: number) => Math.max(TOP, y(ms));
      return [
        x((bin.startNs + bin.endNs) / 2),
        isKnown ? place(low) : Number.NaN,
        isKnown ? place(base[i]!) : Number.NaN,
      ] as const;
    });
    return `<path d="${bandPath(points)}" class="fill-${name}"/>`;
  });
  return svg(
    STACK_HEIGHT,
    'Usual duration of each hop over the run',
    valueAxis(y, 'ms') + layers.join('') + timeAxis(x, detail, floor, true),
  );
}

/** Values for the line that follows the pointer. */
export function seriesData({ bins }: ReportDetail): (number | string | null)[][] {
  const ms = (ns: number) => (Number.isNaN(ns) ? null : roundMs(ns));
  return bins.map((bin) => [
    clockText(bin.startNs),
    ms(bin.p50Ns),
    ms(bin.p95Ns),
    ms(bin.maxNs),
    ms(bin.playoutNs),
    bin.commands,
    Math.round(
      10 * (LEFT + ((bin.startNs + bin.endNs) / 2 / (bins.at(-1)?.endNs ?? 1)) * (WIDTH - RIGHT - LEFT)),
    ) / 10,
  ]);
}

const positive = (ns: number): number => (Number.isNaN(ns) ? 0 : Math.max(0, ns));

function valueAxis(y: Scale, unit: string): string {
  return y.ticks
    .map((tick, i) => {
      const at = y(tick);
      const words =
        i === y.ticks.length - 1
          ? `${Number(tick.toPrecision(3))} ${unit}`
          : `${Number(tick.toPrecision(3))}`;
      return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(at)}" y2="${round(at)}" class="grid"/>${text(LEFT - 6, at + 4, words, 'class="tick end"')}`;
    })
    .join('');
}

function timeAxis(x: Scale, detail: ReportDetail, y: number, withLine: boolean): string {
  const line = withLine ? `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" class="axis"/>` : '';
  const marks = timeTicks(endNsOf(detail) / 1e9, 12).map((s) =>
    text(
      x(s * 1e9),
      y + 16,
      clockText(s * 1e9),
      `class="tick ${x(s * 1e9) > WIDTH - 40 ? 'end' : 'middle'}"`,
    ),
  );
  return line + marks.join('');
}
