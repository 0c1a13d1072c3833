import { BAD_NETWORK, TOUR_STEPS, Tour } from '../../src/desk/tour.ts';
import type { LinkRequest } from '../../src/messages/console.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { create, element, setText } from '../dom.ts';
import { forgetOffer } from './tour-offer.ts';
import { endText, textOf } from './tour-text.ts';

const TARGET = 'tour-target';

/** The running tour: one line above the page that says what to do next, and marks the controls for it. */
export class TourCard {
  readonly #root = element('tour', HTMLElement);
  readonly #title = create('strong', 'tour-title');
  readonly #text = create('p', 'tour-text');
  readonly #setButton = button('tour-set', 'Set both', () => this.#setBad());
  readonly #open = create('a', 'plain', 'Open it') as HTMLAnchorElement;
  readonly #skip = button('tour-skip', 'Skip step', () => this.#skipStep());
  readonly #end = button('tour-end', 'End tour', () => this.#close());
  readonly #steps = create('ol', 'tour-steps');
  readonly #send: (request: DeskRequest | LinkRequest) => void;
  readonly #onEnd: () => void;
  readonly #tour = new Tour();
  #marked = '';

  constructor(send: (request: DeskRequest | LinkRequest) => void, onEnd: () => void) {
    this.#send = send;
    this.#onEnd = onEnd;
    this.#open.dataset['testid'] = 'tour-playback';
    this.#text.setAttribute('role', 'status');
    this.#steps.append(...TOUR_STEPS.map(() => create('li')));
    const words = create('div', 'tour-words');
    words.append(this.#title, this.#text);
    const actions = create('div', 'tour-actions');
    actions.append(this.#setButton, this.#open, this.#skip, this.#end);
    this.#root.replaceChildren(this.#steps, words, actions);
    this.#root.hidden = false;
    document.addEventListener('episodeplay', this.#onPlay);
  }

  update(telemetry: Telemetry, network: string, nowMs: number): void {
    this.#tour.update({ telemetry, network, nowMs });
    this.#draw(telemetry);
  }

  readonly #onPlay = (): void => this.#tour.played();

  #draw(telemetry: Telemetry): void {
    const { step } = this.#tour;
    this.#root.dataset['step'] = step ?? 'end';
    this.#skip.hidden = step === null;
    this.#setButton.hidden = step !== 'shake';
    const episode = telemetry.record?.episode ?? null;
    this.#open.hidden = step !== 'play' || episode === null;
    if (episode !== null) this.#open.href = `#/record/${encodeURIComponent(episode)}`;
    setText(this.#end, step === null ? 'Close' : 'End tour');
    const shown = step === null ? null : textOf(this.#tour, step);
    setText(this.#title, shown === null ? 'Done' : `${this.#tour.number}. ${shown.title}`);
    const stopped = step === null || step === 'play' ? null : stopText(telemetry);
    setText(this.#text, stopped ?? shown?.text ?? endText(this.#tour));
    for (const [i, mark] of [...this.#steps.children].entries())
      mark.className =
        step === null || i < this.#tour.number - 1 ? 'past' : step === TOUR_STEPS[i] ? 'now' : '';
    this.#mark(shown?.targets ?? []);
  }

  #mark(targets: readonly string[]): void {
    const names = targets.join(' ');
    if (names === this.#marked) return;
    this.#marked = names;
    for (const node of document.querySelectorAll(`.${TARGET}`)) node.classList.remove(TARGET);
    for (const id of targets) document.getElementById(id)?.classList.add(TARGET);
    document.getElementById(targets[0] ?? '')?.scrollIntoView({ block: 'nearest' });
  }

  #setBad(): void {
    this.#send({ kind: 'link', profile: BAD_NETWORK });
    this.#send({ kind: 'playout-way', way: 'none' });
  }

  #skipStep(): void {
    this.#tour.skip();
  }

  /** Leaves the network and the playout as a newcomer found them. */
  #close(): void {
    this.#mark([]);
    document.removeEventListener('episodeplay', this.#onPlay);
    this.#root.hidden = true;
    this.#root.replaceChildren();
    this.#send({ kind: 'link', profile: 'off' });
    this.#send({ kind: 'playout-way', way: 'adaptive' });
    forgetOffer();
    this.#onEnd();
  }
}

function stopText({ robot }: Telemetry): string | null {
  if (robot?.state === 'stopped') return 'The robot has stopped. Press Reset, then Arm, to go on.';
  return robot?.state === 'idle' ? 'Press Arm to go on.' : null;
}

function button(testid: string, label: string, act: () => void): HTMLButtonElement {
  const made = create('button', 'plain', label) as HTMLButtonElement;
  made.type = 'button';
  made.dataset['testid'] = testid;
  made.addEventListener('click', act);
  return made;
}
