import type { AccessMessage, AccessNews } from '../../src/messages/console-access.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { PageLink } from './page-link.ts';

const REFUSED_MS = 3000;
const REFUSED_WORDS: Record<string, string> = {
  viewer: 'viewers look on',
  'not-in-control': 'not in control',
};

/** Who is in control, in the header, with a button to take it from another. Its name leads to the pairing of devices. */
export class ControlChip {
  readonly #chip = element('chip-control', HTMLElement);
  readonly #text = element('chip-control-text', HTMLElement);
  readonly #take = element('take-control', HTMLButtonElement);
  /** All that asks something of the robot, but for the stop. */
  readonly #acting = ['drive', 'actions', 'inputs', 'link-controls'].map((id) => element(id, HTMLElement));
  #news: AccessNews | null = null;
  #timer = 0;

  constructor(link: PageLink) {
    link.onAccess = (message) => this.#hear(message);
    this.#take.addEventListener('click', () => link.say({ kind: 'control', action: 'take' }));
  }

  #hear(message: AccessMessage): void {
    if (message.kind === 'access') {
      this.#news = message;
      this.#draw();
    } else if (message.kind === 'refused' && message.request !== 'hand') {
      setText(this.#text, REFUSED_WORDS[message.reason] ?? message.reason);
      setAttribute(this.#chip, 'data-tone', 'bad');
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#draw(), REFUSED_MS);
    }
  }

  #draw(): void {
    if (this.#news === null) return;
    const { role, inControl, holder } = this.#news;
    const watching = role === 'viewer' ? 'viewer' : (holder ?? 'free');
    setText(this.#text, inControl ? 'you' : watching);
    setAttribute(this.#chip, 'data-tone', inControl ? 'good' : holder === null ? 'off' : 'warn');
    this.#take.hidden = role === 'viewer' || inControl || holder === null;
    for (const part of this.#acting) part.inert = role === 'viewer';
  }
}
