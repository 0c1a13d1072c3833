import type { ClosedCommand } from '../../src/messages/telemetry.ts';
import { SEGMENTS } from '../../src/messages/trace-record.ts';
import { create, element, setText } from '../dom.ts';
import { milliseconds, sentence } from '../panels/labels.ts';

/** The stages of one command; each starts where the previous one ended. */
export class Waterfall {
  readonly #about = element('lat-command-about', HTMLElement);
  readonly #bars: HTMLElement[] = [];
  readonly #numbers: HTMLElement[] = [];

  constructor() {
    const list = element('lat-waterfall', HTMLElement);
    SEGMENTS.forEach((name, i) => {
      const row = create('li');
      const track = create('span', 'track');
      const bar = create('i', `segment-${i}`);
      const number = create('b', '', '—');
      track.append(bar);
      row.append(create('span', 'name', name), track, number);
      list.append(row);
      this.#bars.push(bar);
      this.#numbers.push(number);
    });
  }

  show(command: ClosedCommand): void {
    const { seq, outcome, oneWayMs, playoutMs, queueDepth, segmentsMs } = command;
    const total = segmentsMs.reduce<number>((sum, ms) => sum + Math.max(0, ms ?? 0), 0);
    const scheduled =
      playoutMs === null ? '' : `, scheduled ${milliseconds(playoutMs)} ms after the hand sample`;
    const queued = queueDepth === null ? '' : `, ${queueDepth} queued`;
    setText(
      this.#about,
      `No. ${seq}: ${sentence(outcome)}, ${milliseconds(oneWayMs, 2)} ms one-way${scheduled}${queued}.`,
    );
    let from = 0;
    segmentsMs.forEach((ms, i) => {
      const share = total > 0 ? Math.max(0, ms ?? 0) / total : 0;
      const { style } = this.#bars[i]!;
      style.left = `${from * 100}%`;
      style.width = `${share * 100}%`;
      from += share;
      setText(this.#numbers[i]!, milliseconds(ms, 2));
    });
  }
}
