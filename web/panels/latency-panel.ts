import { percentiles, variation } from '../../src/core/statistics/percentiles.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery, element, setText } from '../dom.ts';
import { milliseconds } from './labels.ts';
import { LatencyChart } from './latency-chart.ts';
import { type LatencyWindow, RECENT_S } from './latency-window.ts';

/** Slow enough to read the numbers; the chart updates faster. */
const NUMBERS_MS = 250;
const CHART_MS = 1000 / 15;

const STATISTICS = ['p50', 'p95', 'p99', 'max'] as const;

/** Latency of the last ten seconds. The Latency page shows more. */
export class LatencyPanel {
  readonly #window: LatencyWindow;
  readonly #chart = new LatencyChart();
  readonly #note = element('chart-note', HTMLElement);
  readonly #tiles = STATISTICS.map((name) => element(`latency-${name}`, HTMLElement));
  readonly #playout = element('fact-playout', HTMLElement);
  readonly #variation = element('fact-variation', HTMLElement);
  readonly #numbersDue = atMostEvery(NUMBERS_MS, () => this.#showNumbers());
  readonly #chartDue = atMostEvery(CHART_MS - 4, () => this.#chart.draw(this.#window, this.#pageS));
  #latest: Telemetry | null = null;
  #pageS = 0;

  constructor(window: LatencyWindow) {
    this.#window = window;
  }

  /** Call after adding the new commands to the window. */
  show(telemetry: Telemetry, nowMs: number): void {
    this.#latest = telemetry;
    this.#pageS = nowMs / 1000;
    this.#numbersDue(nowMs);
    if (!document.hidden) this.#chartDue(nowMs);
  }

  #showNumbers(): void {
    const telemetry = this.#latest;
    if (telemetry === null) return;
    const oneWay = percentiles(this.#window.oneWayMs(RECENT_S));
    STATISTICS.forEach((name, i) => {
      const value = oneWay?.[name];
      setText(this.#tiles[i]!, milliseconds(value, (value ?? 0) < 100 ? 1 : 0));
    });
    const steps = percentiles(variation(this.#window.oneWayMs(RECENT_S)));
    setText(this.#variation, steps === null ? '—' : `p95 ${milliseconds(steps.p95)} ms`);
    this.#showPlayout(telemetry.link.playout);
    const synchronized = telemetry.link.offsetMs !== null;
    this.#note.hidden = oneWay !== null;
    setText(this.#note, synchronized ? 'no command applied in the last 10 s' : 'synchronizing clocks…');
  }

  #showPlayout(playout: string): void {
    const { delayMs, depth } = this.#window.playout();
    const delay = delayMs === null ? '' : ` · ${milliseconds(delayMs)} ms`;
    const queued = depth === null ? '' : ` · ${depth} queued`;
    setText(this.#playout, `${playout || '—'}${delay}${queued}`);
  }
}
