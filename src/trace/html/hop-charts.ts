import { HOPS, type Hop } from '../../messages/trace-record.ts';
import { formatMs } from '../milliseconds.ts';
import type { Histogram, ReportDetail, WorstCommand } from '../report-detail.ts';
import { HOP_WORDS } from '../report-text.ts';
import { clockText } from '../verdict.ts';
import { escapeHtml, linear, rect, round, svg, text, WIDTH } from './svg.ts';

const PANEL_WIDTH = 252;
const PANEL_HEIGHT = 92;

/** More than the few microseconds that every scale covers. */
export const tookTime = (detail: ReportDetail, hop: Hop): boolean =>
  (detail.hops[hop]?.edgesNs.at(-1) ?? 0) > 2500;

/** One small chart per hop that took any time, on its own logarithmic scale. */
export function histograms(detail: ReportDetail): string {
  const panels = [panel('End to end', 'total', detail.oneWay)];
  for (const hop of HOPS) {
    const histogram = detail.hops[hop];
    if (histogram !== undefined && tookTime(detail, hop))
      panels.push(panel(HOP_WORDS[hop][0], hop, histogram));
  }
  return `<div class="panels">${panels.join('')}</div>`;
}

function panel(title: string, kind: Hop | 'total', { edgesNs, counts }: Histogram): string {
  const most = Math.max(1, ...counts);
  const floor = PANEL_HEIGHT - 16;
  const width = PANEL_WIDTH / counts.length;
  const bars = counts.map((count, i) => {
    if (count === 0) return '';
    // Square root, so that rare values stay visible beside common ones.
    const height = Math.max(1, Math.sqrt(count / most) * (floor - 4));
    const words = `${formatMs(edgesNs[i]!)} … ${formatMs(edgesNs[i + 1]!)} ms: ${count}`;
    return rect(i * width, floor - height, Math.max(0.5, width - 0.6), height, `class="fill-${kind}"`, words);
  });
  const [low, high] = [edgesNs[0]!, edgesNs.at(-1)!];
  const middle = Math.sqrt(low * high);
  const short = (ns: number) => `${Number((ns / 1e6).toPrecision(2))}`;
  const axis =
    text(0, PANEL_HEIGHT - 3, short(low), 'class="tick"') +
    text(PANEL_WIDTH / 2, PANEL_HEIGHT - 3, short(middle), 'class="tick middle"') +
    text(PANEL_WIDTH, PANEL_HEIGHT - 3, `${short(high)} ms`, 'class="tick end"');
  const line = `<line x1="0" x2="${PANEL_WIDTH}" y1="${floor}" y2="${floor}" class="axis"/>`;
  return `<figure><figcaption>${escapeHtml(title)}</figcaption><svg viewBox="0 0 ${PANEL_WIDTH} ${PANEL_HEIGHT}" role="img" aria-label="Histogram of ${escapeHtml(title)}">${bars.join('')}${line}${axis}</svg></figure>`;
}

const ROW = 22;
const LABEL = 190;

/** The worst commands, hop after hop, on one scale. */
export function waterfalls(worst: readonly WorstCommand[]): string {
  if (worst.length === 0) return '<p>No command was applied.</p>';
  const total = ({ hopsNs }: WorstCommand) => hopsNs.reduce((sum, ns) => sum + Math.max(0, ns || 0), 0);
  const most = Math.max(...worst.map(total)) / 1e6;
  const x = linear(0, most, LABEL, WIDTH - 90, 8);
  const height = worst.length * ROW + 26;
  const grid = x.ticks.map(
    (tick) =>
      `<line x1="${round(x(tick))}" x2="${round(x(tick))}" y1="0" y2="${height - 22}" class="grid"/>` +
      text(x(tick), height - 6, `${Number(tick.toPrecision(3))}`, 'class="tick middle"'),
  );
  const rows = worst.map((command, row) => waterfall(command, row, x));
  return svg(height, 'The worst commands, hop by hop', grid.join('') + rows.join(''));
}

function waterfall(
  { seq, atNs, hopsNs, oneWayNs, outcome, uncertaintyNs }: WorstCommand,
  row: number,
  x: (ms: number) => number,
): string {
  const y = row * ROW + 3;
  let atMs = 0;
  const bars = HOPS.map((hop, i) => {
    const ms = (hopsNs[i] ?? 0) / 1e6;
    if (!(ms > 0)) return '';
    const from = x(atMs);
    atMs += ms;
    return rect(
      from,
      y,
      Math.max(0.6, x(atMs) - from),
      ROW - 7,
      `class="fill-${hop}"`,
      `${HOP_WORDS[hop][0]} ${ms.toFixed(3)} ms`,
    );
  });
  const late = outcome === 'late' ? ' late' : '';
  const doubt = Number.isNaN(uncertaintyNs) ? '' : `, ±${formatMs(uncertaintyNs)} ms clock uncertainty`;
  const label = text(0, y + 12, `${clockText(atNs)}  #${seq}${late}`, 'class="tick mono"');
  const sum = `<text x="${round(x(atMs) + 6)}" y="${y + 12}" class="tick"><title>one way ${formatMs(oneWayNs)} ms${doubt}</title>${(oneWayNs / 1e6).toFixed(1)} ms</text>`;
  return label + bars.join('') + sum;
}
