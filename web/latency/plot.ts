import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { onThemeChange } from '../shell/theme.ts';

const FONT = '11px system-ui, sans-serif';

export interface PlotOptions {
  series: uPlot.Series[];
  bands?: uPlot.Band[];
  /** Unit of the left axis: `ms`. */
  unit: string;
  range: () => [number, number];
  /** The right axis, for series with the scale `right`. */
  right?: { range: () => [number, number] };
  hooks?: uPlot.Hooks.Arrays;
  onPick?: (index: number) => void;
}

/** A chart over seconds before now. It fills its box and follows its size and the theme. */
export class TimePlot {
  readonly #plot: uPlot;
  #windowS = 30;

  constructor(box: HTMLElement, options: PlotOptions) {
    const { clientWidth, clientHeight } = box;
    const empty = [[], ...options.series.map(() => [])] as unknown as uPlot.AlignedData;
    const settings = this.#settings(options, clientWidth || 600, clientHeight || 160);
    this.#plot = new uPlot(settings, empty, box);
    new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = box;
      if (width > 0 && height > 0) this.#plot.setSize({ width, height });
    }).observe(box);
    onThemeChange(() => this.#plot.redraw(false, true));
    const { onPick } = options;
    if (onPick) this.#plot.over.addEventListener('click', () => onPick(this.#plot.cursor.idx ?? -1));
  }

  set windowS(seconds: number) {
    this.#windowS = seconds;
  }

  draw(data: (number | null)[][]): void {
    this.#plot.setData(data as uPlot.AlignedData);
  }

  #settings(options: PlotOptions, width: number, height: number): uPlot.Options {
    const { series, bands, unit, range, right, hooks, onPick } = options;
    const both = { font: FONT, stroke: () => css('--muted'), ticks: { show: false } };
    const grid = { stroke: () => css('--line'), width: 1 };
    const axes: uPlot.Axis[] = [
      { ...both, grid: { show: false }, size: 20, gap: 2, space: 70, values: (_, at) => at.map(secondLabel) },
      { ...both, grid, size: 52, gap: 6, space: 26, values: (_, at) => labels(at, unit) },
    ];
    if (right)
      axes.push({ ...both, scale: 'right', side: 1, grid: { show: false }, size: 32, gap: 6, space: 26 });
    return {
      width,
      height,
      legend: { show: false },
      cursor: onPick
        ? { drag: { x: false, y: false }, points: { show: true, size: 7 }, y: false }
        : { show: false },
      padding: [10, right ? 4 : 14, 0, 0],
      scales: {
        x: { time: false, range: () => [-this.#windowS, 0] },
        y: { range: () => range() },
        ...(right && { right: { range: () => right.range() } }),
      },
      axes,
      series: [{}, ...series],
      ...(bands && { bands }),
      ...(hooks && { hooks }),
    };
  }
}

export const line = (name: string, more: uPlot.Series = {}): uPlot.Series => ({
  stroke: () => css(name),
  width: 1.5,
  points: { show: false },
  spanGaps: true,
  ...more,
});

export function dots(name: string, size: number): uPlot.Series {
  const paint = () => css(name);
  return { paths: () => null, points: { show: true, size, width: 0, fill: paint, stroke: paint } };
}

export const css = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** No first label: it would overlap the y axis. */
const secondLabel = (second: number, i: number): string =>
  second === 0 ? 'now' : i === 0 ? '' : `−${-second} s`;

/** Only the top label carries the unit. */
const labels = (at: readonly number[], unit: string): string[] =>
  at.map((value, i) => {
    const text = String(Number(value.toPrecision(4))).replace('-', '−');
    return i === at.length - 1 ? `${text} ${unit}` : text;
  });

const CEILINGS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000];

/** An axis maximum slightly above `highest`, from a short list so that it rarely changes. */
export const ceilingFor = (highest: number): number =>
  CEILINGS.find((ceiling) => highest * 1.08 <= ceiling) ?? highest * 1.08;
