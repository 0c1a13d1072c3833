import type { PlayoutQuality } from '../../src/core/messages.ts';
import type { DeskRequest, Telemetry } from '../../src/core/telemetry.ts';
import { atMostEvery, element, setAttribute, setText } from '../dom.ts';
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
  readonly #qualities = element('qualities', HTMLFieldSetElement);
  readonly #numbersDue = atMostEvery(NUMBERS_MS, () => this.#showNumbers());
  readonly #chartDue = atMostEvery(CHART_MS - 4, () => this.#chart.draw(this.#window, this.#pageS));
  #latest: Telemetry | null = null;
  #pageS = 0;

  constructor(send: (request: DeskRequest) => void) {
    for (const button of this.#qualities.querySelectorAll('button'))
      button.addEventListener('click', () =>
        send({ kind: 'playout', quality: button.dataset['quality'] as PlayoutQuality }),
      );
  }

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
    this.#showPlayout(telemetry.link);
    const synchronized = telemetry.link.offsetMs !== null;
    this.#note.hidden = oneWay !== null;
    setText(this.#note, synchronized ? 'no command applied in the last 10 s' : 'synchronizing clocks…');
  }

  #showLink({ offsetMs, uncertaintyMs, stampSource }: Telemetry['link']): void {
    const error = uncertaintyMs === null ? '' : ` ± ${milliseconds(uncertaintyMs, 3)}`;
    const clock = offsetMs === null ? 'synchronizing clocks…' : `${milliseconds(offsetMs, 3)}${error} ms`;
    setText(this.#clock, clock);
    setText(this.#stamps, stampSource || '—');
  }

  #showPlayout({ playout, quality }: Telemetry['link']): void {
    const { delayMs, depth } = this.#window.playout();
    const delay = delayMs === null ? '' : ` · ${milliseconds(delayMs)} ms`;
    const waiting = depth === null ? '' : ` · ${depth} waiting`;
    setText(this.#playout, `${playout || '—'}${delay}${waiting}`);
    this.#qualities.hidden = !playout.startsWith('adaptive');
    const asked = quality ?? /:(\w+)/.exec(playout)?.[1] ?? 'balanced';
    for (const button of this.#qualities.querySelectorAll('button'))
      setAttribute(button, 'aria-pressed', String(button.dataset['quality'] === asked));
  }
}
