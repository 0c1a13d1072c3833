import { SEGMENTS } from '../../src/core/trace-record.ts';
import { create, element, setAttribute, setText } from '../dom.ts';
import { milliseconds } from './words.ts';

const WHAT: Record<(typeof SEGMENTS)[number], string> = {
  pipeline: 'hand read to command ready',
  serialise: 'command ready to handed to the network',
  wire: 'on the way, between the two clocks',
  receive: 'arrived in the kernel to read by the robot process',
  playout: 'waiting in the playout buffer for its instant',
  apply: 'released to written to the joints',
};

/** Where the median millisecond goes: a stacked bar and its numbers. */
export class SegmentsBar {
  readonly #pieces: HTMLElement[] = [];
  readonly #numbers: HTMLElement[] = [];
  readonly #bar = element('segments-bar', HTMLElement);

  constructor() {
    const list = element('segments', HTMLElement);
    SEGMENTS.forEach((name, i) => {
      const piece = create('i', `segment-${i}`);
      const row = create('li');
      const number = create('b', '', '—');
      row.title = WHAT[name];
      row.append(create('i', `segment-${i}`), create('span', '', name), number);
      list.append(row);
      this.#bar.append(piece);
      this.#pieces.push(piece);
      this.#numbers.push(number);
    });
  }

  update(mediansMs: readonly (number | null)[]): void {
    const known = mediansMs.some((median) => median !== null);
    setAttribute(this.#bar, 'data-known', String(known));
    mediansMs.forEach((median, i) => {
      this.#pieces[i]!.style.flexGrow = String(Math.max(0, median ?? 0));
      setText(this.#numbers[i]!, milliseconds(median, median !== null && Math.abs(median) < 9.995 ? 2 : 1));
    });
  }
}
