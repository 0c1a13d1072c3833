import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element } from '../dom.ts';
import { onThemeChange } from '../shell/theme.ts';
import { type LatencyWindow, RECENT_S } from './latency-window.ts';

/** Axis maxima in ms. The axis grows at once and shrinks when the whole window fits a lower one. */
const CEILINGS_MS = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const FONT = '11px system-ui, sans-serif';

/** One point per command: its one-way time, at the instant of its hand sample. */
export class LatencyChart {
  readonly #box = element('chart', HTMLElement);
  readonly #plot: uPlot;
  #ceilingMs = 100;

  constructor() {
    const { clientWidth, clientHeight } = this.#box;
    this.#plot = new uPlot(
      this.#options(clientWidth || 340, clientHeight || 120),
      [[], [], [], []],
      this.#box,
    );
    new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = this.#box;
      if (width > 0 && height > 0) this.#plot.setSize({ width, height });
    }).observe(this.#box);
    onThemeChange(() => this.#plot.redraw(false, true));
  }

  draw(window: LatencyWindow, pageS: number): void {
    const nowS = window.nowS(pageS);
    const at: number[] = [];
    const onTime: (number | null)[] = [];
    const late: (number | null)[] = [];
    const gone: (number | null)[] = [];
    let highest = 0;
    const { commands } = window;
    for (let i = window.firstOf(RECENT_S + 0.5); i < commands.length; i++) {
      const { atS, oneWayMs, outcome } = commands[i]!;
      at.push(atS - nowS);
      onTime.push(oneWayMs);
      late.push(outcome === 'late' ? oneWayMs : null);
      gone.push(outcome === 'lost' || outcome === 'dropped-stale' ? this.#ceilingMs * 0.04 : null);
      highest = Math.max(highest, oneWayMs ?? 0);
    }
    if (highest > 0)
      this.#ceilingMs = CEILINGS_MS.find((ceiling) => highest * 1.08 <= ceiling) ?? highest * 1.08;
    this.#plot.setData([at, onTime, late, gone]);
  }

  #options(width: number, height: number): uPlot.Options {
    return {
      width,
      height,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 14, 0, 0],
      scales: {
        x: { time: false, range: [-RECENT_S, 0] },
        y: { range: () => [0, this.#ceilingMs] },
      },
      axes: axes(),
      series: [
        {},
        { stroke: () => css('--accent'), width: 1.5, points: { show: false }, spanGaps: true },
        dots('--amber', 5),
        dots('--red', 6),
      ],
    };
  }
}

function axes(): uPlot.Axis[] {
  const both = { font: FONT, stroke: () => css('--muted'), ticks: { show: false } };
  const splits = [-8, -6, -4, -2, 0];
  return [
    { ...both, grid: { show: false }, size: 20, gap: 2, splits, values: secondLabels },
    {
      ...both,
      grid: { stroke: () => css('--line'), width: 1 },
      size: 56,
      gap: 6,
      space: 26,
      values: millisecondLabels,
    },
  ];
}

function dots(name: string, size: number): uPlot.Series {
  const paint = () => css(name);
  return { paths: () => null, points: { show: true, size, width: 0, fill: paint, stroke: paint } };
}

function secondLabels(_: uPlot, splits: number[]): string[] {
  return splits.map((second) => (second === 0 ? 'now' : `−${-second} s`));
}

/** Only the top label carries the unit. */
function millisecondLabels(_: uPlot, splits: number[]): string[] {
  return splits.map((value, i) => (i === splits.length - 1 ? `${value} ms` : String(value)));
}

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
