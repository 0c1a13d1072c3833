import { percentiles, variation } from '../../src/core/statistics/percentiles.ts';
import type { PlayoutQuality } from '../../src/messages/playout-request.ts';
import type { ClosedCommand, Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery, element, setAttribute, setText } from '../dom.ts';
import { milliseconds } from '../panels/labels.ts';
import { WINDOW_S } from '../panels/latency-window.ts';
import { RejectionsDrawer } from '../panels/rejections.ts';
import type { LazyPage, PageContext } from '../shell/lazy-page.ts';
import {
  type BadSecond,
  ClockChart,
  type ClockSample,
  OneWayChart,
  PlayoutChart,
  StagesChart,
} from './charts.ts';
import { Histogram } from './histogram.ts';
import { LATENCY_TEMPLATE, ONE_WAY_NOTE } from './template.ts';
import { Waterfall } from './waterfall.ts';

const NUMBERS_MS = 300;
const CHARTS_MS = 125;
const CLOCK_MS = 100;
const STATISTICS = ['p50', 'p95', 'p99', 'max'] as const;
const OUTCOMES = { late: 'late', dropped: 'dropped-stale', lost: 'lost' } as const;

export function openLatencyPage(root: HTMLElement, context: PageContext): LazyPage {
  root.innerHTML = LATENCY_TEMPLATE;
  return new LatencyPage(context);
}

class LatencyPage implements LazyPage {
  readonly #context: PageContext;
  readonly #oneWay = new OneWayChart((index) => this.#pick(index));
  readonly #stages = new StagesChart();
  readonly #playout = new PlayoutChart();
  readonly #clock = new ClockChart();
  readonly #histogram = new Histogram();
  readonly #waterfall = new Waterfall();
  readonly #counters = new RejectionsDrawer();
  readonly #samples: ClockSample[] = [];
  readonly #numbersDue = atMostEvery(NUMBERS_MS, () => this.#showNumbers());
  readonly #chartsDue = atMostEvery(CHARTS_MS, () => this.#draw());
  readonly #clockDue = atMostEvery(CLOCK_MS, () => this.#sampleClock());
  #shownCommands: readonly ClosedCommand[] = [];
  #bad: readonly BadSecond[] = [];
  #nowS = 0;
  #pageS = 0;
  #windowS = 30;
  #paused = false;
  #picked: ClosedCommand | null = null;
  #latest: Telemetry | null = null;

  constructor(context: PageContext) {
    this.#context = context;
    const pause = element('lat-pause', HTMLButtonElement);
    pause.addEventListener('click', () => {
      this.#paused = !this.#paused;
      setAttribute(pause, 'aria-pressed', String(this.#paused));
      setText(pause, this.#paused ? 'Resume' : 'Pause');
    });
    this.#listenToWindows();
    this.#listenToSteps();
    for (const button of element('qualities', HTMLFieldSetElement).querySelectorAll('button'))
      button.addEventListener('click', () =>
        context.send({ kind: 'playout', quality: button.dataset['quality'] as PlayoutQuality }),
      );
  }

  setShown(): void {}

  show(telemetry: Telemetry, nowMs: number): void {
    this.#latest = telemetry;
    this.#pageS = nowMs / 1000;
    this.#clockDue(nowMs);
    if (this.#paused) return;
    this.#nowS = this.#context.commands.nowS(this.#pageS);
    this.#chartsDue(nowMs);
    this.#numbersDue(nowMs);
  }

  #listenToWindows(): void {
    const buttons = element('lat-windows', HTMLFieldSetElement).querySelectorAll('button');
    for (const button of buttons)
      button.addEventListener('click', () => {
        this.#windowS = Number(button.dataset['seconds']);
        for (const other of buttons) setAttribute(other, 'aria-pressed', String(other === button));
        this.#draw();
      });
  }

  #listenToSteps(): void {
    const step = (by: number) => {
      const at = this.#shownCommands.findIndex(({ seq }) => seq === this.#picked?.seq);
      this.#pick(at === -1 ? this.#shownCommands.length - 1 : at + by);
    };
    element('lat-previous', HTMLButtonElement).addEventListener('click', () => step(-1));
    element('lat-next', HTMLButtonElement).addEventListener('click', () => step(1));
    element('lat-slowest', HTMLButtonElement).addEventListener('click', () => {
      let slowest = -1;
      this.#shownCommands.forEach(({ oneWayMs }, i) => {
        if ((oneWayMs ?? -1) > (this.#shownCommands[slowest]?.oneWayMs ?? -1)) slowest = i;
      });
      this.#pick(slowest);
    });
  }

  #pick(index: number): void {
    const command = this.#shownCommands[index];
    if (command === undefined) return;
    this.#picked = command;
    this.#waterfall.show(command);
    this.#drawOneWay();
  }

  #sampleClock(): void {
    const { offsetMs, uncertaintyMs } = this.#latest!.link;
    if (offsetMs === null) return;
    this.#samples.push({ atS: this.#pageS, offsetMs, uncertaintyMs: uncertaintyMs ?? 0 });
    while (this.#samples.length > 0 && this.#samples[0]!.atS < this.#pageS - WINDOW_S - 1)
      this.#samples.shift();
  }

  #draw(): void {
    if (document.hidden) return;
    const { commands } = this.#context;
    if (!this.#paused) {
      this.#shownCommands = commands.commands.slice(commands.firstOf(this.#windowS + 1));
      this.#bad = this.#latest?.feel?.bad ?? [];
    }
    this.#drawOneWay();
    this.#stages.draw(this.#shownCommands, this.#nowS, this.#windowS);
    this.#playout.draw(this.#shownCommands, this.#nowS, this.#windowS);
    if (!this.#paused) this.#clock.draw(this.#samples, this.#pageS, this.#windowS);
  }

  #drawOneWay(): void {
    const picked = this.#picked?.atS ?? Number.NaN;
    this.#oneWay.draw(this.#shownCommands, this.#bad, this.#nowS, this.#windowS, picked);
  }

  #showNumbers(): void {
    const values = this.#context.commands.oneWayMs(this.#windowS);
    const found = percentiles(values);
    const set = (id: string, text: string) => setText(element(`lat-${id}`, HTMLElement), text);
    for (const name of STATISTICS) set(name, milliseconds(found?.[name]));
    const note = found ? ONE_WAY_NOTE : 'no commands applied in this window';
    set('one-way-note', note);
    set('variation', milliseconds(percentiles(variation(values))?.p95));
    this.#showFeel(set);
    const all = Math.max(1, this.#shownCommands.length);
    for (const [id, outcome] of Object.entries(OUTCOMES)) {
      const count = this.#shownCommands.filter((command) => command.outcome === outcome).length;
      set(id, ((100 * count) / all).toFixed(1));
    }
    this.#histogram.draw(values);
    this.#showTable();
    this.#showLink(set);
  }

  #showFeel(set: (id: string, text: string) => void): void {
    const { feel, motionLatencyMs } = this.#latest!;
    const shown = this.#bad.filter(({ toS }) => toS > this.#nowS - this.#windowS);
    set('bad', feel ? String(shown.length) : '—');
    set('motion', milliseconds(motionLatencyMs));
    if (!feel) return;
    const { badWindows, windows, longestLateRun, last, holds = 0, stops = 0, refused = 0 } = feel;
    set('felt', `${badWindows} of ${windows}, longest late run ${longestLateRun} commands`);
    set('halts', `${holds} holds, ${stops} stops, ${refused} commands refused`);
    const cause = last.isBad ? last.cause : (shown.at(-1)?.cause ?? '');
    set('cause', cause || 'none');
  }

  #showTable(): void {
    const rows = element('lat-table', HTMLTableSectionElement).rows;
    this.#context.commands.segments(this.#windowS).forEach((found, i) => {
      const cells = rows[i]?.querySelectorAll('td') ?? [];
      (['p50', 'p95', 'p99'] as const).forEach((name, column) => {
        const cell = cells[column];
        if (cell) setText(cell, milliseconds(found?.[name], 2));
      });
    });
  }

  #showLink(set: (id: string, text: string) => void): void {
    const { link, totals, counters } = this.#latest!;
    const { offsetMs, uncertaintyMs, driftPpm, stampSource, playout, quality } = link;
    const error = uncertaintyMs === null ? '' : ` ± ${milliseconds(uncertaintyMs, 3)}`;
    set('offset', offsetMs === null ? 'synchronizing…' : `${milliseconds(offsetMs, 3)}${error} ms`);
    set('drift', driftPpm === null ? '—' : `${milliseconds(driftPpm, 2)} ppm`);
    set('stamps', stampSource || '—');
    set('playout-name', playout || '—');
    set(
      'commands',
      `${totals.commands.toLocaleString('en')}, ${totals.applied.toLocaleString('en')} applied`,
    );
    const qualities = element('qualities', HTMLFieldSetElement);
    qualities.hidden = !playout.startsWith('adaptive');
    const chosen = quality ?? /:(\w+)/.exec(playout)?.[1] ?? 'balanced';
    for (const button of qualities.querySelectorAll('button'))
      setAttribute(button, 'aria-pressed', String(button.dataset['quality'] === chosen));
    this.#counters.update(counters);
  }
}
