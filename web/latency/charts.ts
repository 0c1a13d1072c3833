import type uPlot from 'uplot';
import type { ClosedCommand, FeelStatus } from '../../src/messages/telemetry.ts';
import { SEGMENTS } from '../../src/messages/trace-record.ts';
import { element } from '../dom.ts';
import { ceilingFor, css, dots, line, TimePlot } from './plot.ts';

/** A screen cannot show more time steps. */
const MOMENTS = 400;

export type BadSecond = NonNullable<FeelStatus['bad']>[number];

/** The one-way time of every command, with bad seconds in the background. */
export class OneWayChart {
  readonly #plot: TimePlot;
  #ceilingMs = 20;
  #bad: readonly BadSecond[] = [];
  #nowS = 0;
  #picked = Number.NaN;

  constructor(onPick: (index: number) => void) {
    this.#plot = new TimePlot(element('lat-one-way', HTMLElement), {
      unit: 'ms',
      range: () => [0, this.#ceilingMs],
      series: [line('--accent'), dots('--amber', 5), dots('--red', 6)],
      hooks: { drawClear: [(plot) => this.#shade(plot)], draw: [(plot) => this.#mark(plot)] },
      onPick,
    });
  }

  draw(
    commands: readonly ClosedCommand[],
    bad: readonly BadSecond[],
    nowS: number,
    windowS: number,
    pickedS: number,
  ): void {
    const at: number[] = [];
    const [oneWay, late, gone]: (number | null)[][] = [[], [], []];
    let highest = 1;
    for (const { atS, oneWayMs, outcome } of commands) {
      at.push(atS - nowS);
      oneWay!.push(oneWayMs);
      late!.push(outcome === 'late' ? oneWayMs : null);
      gone!.push(outcome === 'lost' || outcome === 'dropped-stale' ? this.#ceilingMs * 0.03 : null);
      highest = Math.max(highest, oneWayMs ?? 0);
    }
    this.#ceilingMs = ceilingFor(highest);
    this.#bad = bad;
    this.#nowS = nowS;
    this.#picked = pickedS - nowS;
    this.#plot.windowS = windowS;
    this.#plot.draw([at, oneWay!, late!, gone!]);
  }

  #shade(plot: uPlot): void {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.fillStyle = css('--red');
    ctx.globalAlpha = 0.16;
    for (const { fromS, toS } of this.#bad) {
      const left = Math.max(bbox.left, plot.valToPos(fromS - this.#nowS, 'x', true));
      const right = Math.min(bbox.left + bbox.width, plot.valToPos(toS - this.#nowS, 'x', true));
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.restore();
  }

  #mark(plot: uPlot): void {
    const x = plot.valToPos(this.#picked, 'x', true);
    const { ctx, bbox } = plot;
    if (!(x >= bbox.left && x <= bbox.left + bbox.width)) return;
    ctx.save();
    ctx.fillStyle = css('--text');
    ctx.fillRect(Math.round(x), bbox.top, Math.max(1, devicePixelRatio), bbox.height);
    ctx.restore();
  }
}

/** The stages of the slowest command of each time step, stacked. */
export class StagesChart {
  readonly #plot: TimePlot;
  #ceilingMs = 20;

  constructor() {
    // Paint the total first, then each smaller sum over it.
    const series = SEGMENTS.map((_, i) => {
      const name = `--seg-${SEGMENTS.length - 1 - i}`;
      return line(name, { width: 0, fill: () => css(name) });
    });
    this.#plot = new TimePlot(element('lat-stages', HTMLElement), {
      unit: 'ms',
      range: () => [0, this.#ceilingMs],
      series,
    });
  }

  draw(commands: readonly ClosedCommand[], nowS: number, windowS: number): void {
    const slowest = slowestOfMoments(commands, nowS, windowS);
    const sums = SEGMENTS.map((): number[] => []);
    let highest = 1;
    for (const { segmentsMs } of slowest) {
      let sum = 0;
      segmentsMs.forEach((ms, i) => {
        sum += Math.max(0, ms ?? 0);
        sums[i]?.push(sum);
      });
      highest = Math.max(highest, sum);
    }
    this.#ceilingMs = ceilingFor(highest);
    this.#plot.windowS = windowS;
    this.#plot.draw([slowest.map(({ atS }) => atS - nowS), ...sums.reverse()]);
  }
}

function slowestOfMoments(
  commands: readonly ClosedCommand[],
  nowS: number,
  windowS: number,
): ClosedCommand[] {
  const found: ClosedCommand[] = [];
  let moment = Number.NaN;
  for (const command of commands) {
    if (command.oneWayMs === null) continue;
    const at = Math.floor((command.atS * MOMENTS) / windowS);
    if (at !== moment) found.push(command);
    else if (command.oneWayMs > found.at(-1)!.oneWayMs!) found[found.length - 1] = command;
    moment = at;
  }
  return found.filter(({ atS }) => atS >= nowS - windowS - 1);
}

/** The scheduled playout delay of each command, and the queue length. */
export class PlayoutChart {
  readonly #plot: TimePlot;
  #ceilingMs = 20;
  #most = 4;

  constructor() {
    this.#plot = new TimePlot(element('lat-playout', HTMLElement), {
      unit: 'ms',
      range: () => [0, this.#ceilingMs],
      right: { range: () => [0, this.#most] },
      series: [
        line('--hand', { scale: 'right', width: 1, fill: () => `${css('--hand')}2e` }),
        line('--seg-4', { width: 2 }),
      ],
    });
  }

  draw(commands: readonly ClosedCommand[], nowS: number, windowS: number): void {
    const moments = slowestOfMoments(commands, nowS, windowS);
    const delays = moments.map(({ playoutMs }) => playoutMs);
    const depths = moments.map(({ queueDepth }) => queueDepth);
    this.#ceilingMs = ceilingFor(Math.max(1, ...delays.map((ms) => ms ?? 0)));
    this.#most = Math.max(4, ...depths.map((depth) => 2 * Math.ceil((depth ?? 0) / 2)));
    this.#plot.windowS = windowS;
    this.#plot.draw([moments.map(({ atS }) => atS - nowS), depths, delays]);
  }
}

export interface ClockSample {
  /** Page clock. */
  atS: number;
  offsetMs: number;
  uncertaintyMs: number;
}

export class ClockChart {
  readonly #plot: TimePlot;
  #range: [number, number] = [-0.1, 0.1];

  constructor() {
    this.#plot = new TimePlot(element('lat-clock', HTMLElement), {
      unit: 'ms',
      range: () => this.#range,
      series: [line('--seg-1', { width: 0 }), line('--seg-1', { width: 0 }), line('--seg-1', { width: 2 })],
      bands: [{ series: [1, 2], fill: () => `${css('--seg-1')}33` }],
    });
  }

  draw(samples: readonly ClockSample[], nowS: number, windowS: number): void {
    const shown = samples.filter(({ atS }) => atS > nowS - windowS - 1);
    const high = shown.map(({ offsetMs, uncertaintyMs }) => offsetMs + uncertaintyMs);
    const low = shown.map(({ offsetMs, uncertaintyMs }) => offsetMs - uncertaintyMs);
    const middle = shown.map(({ offsetMs }) => offsetMs);
    if (shown.length > 0) {
      const centre = (Math.max(...high) + Math.min(...low)) / 2;
      const half = ceilingFor(Math.max(0.01, (Math.max(...high) - Math.min(...low)) / 2));
      this.#range = [centre - half, centre + half];
    }
    this.#plot.windowS = windowS;
    this.#plot.draw([shown.map(({ atS }) => atS - nowS), high, low, middle]);
  }
}
