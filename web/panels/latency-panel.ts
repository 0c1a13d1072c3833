import type { Telemetry } from '../../src/core/telemetry.ts';
import { atMostEvery, element, setText } from '../dom.ts';
import { LatencyChart } from './latency-chart.ts';
import { LatencyWindow } from './latency-window.ts';
import { SegmentsBar } from './segments-bar.ts';
import { milliseconds } from './words.ts';

/** Numbers stay long enough to be read; the chart flows. */
const NUMBERS_MS = 250;
const CHART_MS = 1000 / 15;

const STATISTICS = ['p50', 'p95', 'p99', 'max'] as const;
const TOTALS = ['commands', 'applied', 'late', 'dropped', 'lost'] as const;

export class LatencyPanel {
  readonly #window = new LatencyWindow();
  readonly #chart = new LatencyChart();
  readonly #segments = new SegmentsBar();
  readonly #note = element('chart-note', HTMLElement);
  readonly #tiles = STATISTICS.map((name) => element(`latency-${name}`, HTMLElement));
  readonly #totals = TOTALS.map((name) => element(`total-${name}`, HTMLElement));
  readonly #clock = element('fact-clock', HTMLElement);
  readonly #playout = element('fact-playout', HTMLElement);
  readonly #stamps = element('fact-stamps', HTMLElement);
  readonly #numbersDue = atMostEvery(NUMBERS_MS, () => this.#showNumbers());
  readonly #chartDue = atMostEvery(CHART_MS - 4, () => this.#chart.draw(this.#window, this.#pageS));
  #latest: Telemetry | null = null;
  #pageS = 0;

  add(telemetry: Telemetry, nowMs: number): void {
    this.#latest = telemetry;
    this.#pageS = nowMs / 1000;
    this.#window.add(telemetry.closed, this.#pageS);
    this.#numbersDue(nowMs);
    if (!document.hidden) this.#chartDue(nowMs);
  }

  /** A new connection may be to a new operator process, with another clock. */
  clear(): void {
    this.#window.clear();
  }

  #showNumbers(): void {
    const telemetry = this.#latest;
    if (telemetry === null) return;
    const oneWay = this.#window.oneWay();
    STATISTICS.forEach((name, i) => {
      setText(this.#tiles[i]!, milliseconds(oneWay?.[name]));
    });
    this.#segments.update(this.#window.segmentMedians());
    TOTALS.forEach((name, i) => {
      setText(this.#totals[i]!, telemetry.totals[name].toLocaleString('en'));
    });
    this.#showLink(telemetry.link);
    const synchronized = telemetry.link.offsetMs !== null;
    this.#note.hidden = oneWay !== null;
    setText(this.#note, synchronized ? 'no command applied in the last 10 s' : 'synchronizing clocks…');
  }

  #showLink({ offsetMs, uncertaintyMs, stampSource, playout }: Telemetry['link']): void {
    const error = uncertaintyMs === null ? '' : ` ± ${milliseconds(uncertaintyMs, 3)}`;
    const clock = offsetMs === null ? 'synchronizing clocks…' : `${milliseconds(offsetMs, 3)}${error} ms`;
    setText(this.#clock, clock);
    setText(this.#playout, playout || '—');
    setText(this.#stamps, stampSource || '—');
  }
}
