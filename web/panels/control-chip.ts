import type { AccessMessage, AccessNews, AccessRequest } from '../../src/core/console-access.ts';
import { element, setAttribute, setText } from '../dom.ts';

/** Who is in control, in the header; pressed, it takes control over, or leads to the pairing of another device. */
export class ControlChip {
  readonly #chip = element('chip-control', HTMLElement);
  readonly #text = element('chip-control-text', HTMLElement);
  readonly #take = element('take-control', HTMLButtonElement);
  #news: AccessNews | null = null;

  constructor(say: (request: AccessRequest) => void) {
    this.#take.addEventListener('click', () => say({ kind: 'control', action: 'take' }));
  }

  hear(message: AccessMessage): void {
    if (message.kind === 'access') this.#news = message;
    if (message.kind === 'refused') setAttribute(this.#chip, 'data-tone', 'bad');
    else this.#draw();
  }

  #draw(): void {
    if (this.#news === null) return;
    const { role, inControl, holder } = this.#news;
    const watching = role === 'viewer' ? 'viewer' : (holder ?? 'free');
    setText(this.#text, inControl ? 'you' : watching);
    setAttribute(this.#chip, 'data-tone', inControl ? 'good' : holder === null ? 'off' : 'warn');
    this.#take.hidden = role === 'viewer' || inControl || holder === null;
  }
}
