import { PLACE_TASK } from '../../src/desk/place-hint.ts';
import { BAD_NETWORK, TOUR_STEPS, Tour, type TourStep } from '../../src/desk/tour.ts';
import type { LinkRequest } from '../../src/messages/console.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { create, element, setText } from '../dom.ts';
import { HintLine, type IsBlocked } from './hint-line.ts';
import { forgetOffer } from './tour-offer.ts';
import { endText, textOf } from './tour-text.ts';

const TARGET = 'tour-target';
const EXPERT = 'expert';

/** The running tour: one line above the page that says what to do next, and marks the controls for it. */
export class TourCard {
  readonly #root = element('tour', HTMLElement);
  readonly #title = create('strong', 'tour-title');
  readonly #text = create('p', 'tour-text');
  readonly #hint: HintLine;
  readonly #setButton = button('tour-set', 'Set both', () => this.#setBad());
  readonly #open = create('a', 'plain', 'Open it') as HTMLAnchorElement;
  readonly #skip = button('tour-skip', 'Skip step', () => this.#skipStep());
  readonly #end = button('tour-end', 'End tour', () => this.#close());
  readonly #steps = create('ol', 'tour-steps');
  readonly #send: (request: DeskRequest | LinkRequest) => void;
  readonly #onEnd: () => void;
  readonly #tour = new Tour();
  #marked = '';
  #shown: TourStep | null = null;
  #hasBegun = false;
  /** The world's task before the tour's own. */
  #task = '';

  constructor(send: (request: DeskRequest | LinkRequest) => void, isBlocked: IsBlocked, onEnd: () => void) {
    this.#hint = new HintLine(isBlocked);
    this.#send = send;
    this.#onEnd = onEnd;
    this.#open.dataset['testid'] = 'tour-playback';
    this.#text.setAttribute('role', 'status');
    this.#steps.append(...TOUR_STEPS.map(() => create('li')));
    const words = create('div', 'tour-words');
    words.append(this.#title, this.#text, this.#hint.root);
    const actions = create('div', 'tour-actions');
    actions.append(this.#setButton, this.#open, this.#skip, this.#end);
    this.#root.replaceChildren(this.#steps, words, actions);
    this.#root.hidden = false;
    document.addEventListener('episodeplay', this.#onPlay);
  }

  update(telemetry: Telemetry, network: string, nowMs: number): void {
    this.#letExpertDrive(telemetry);
    this.#tour.update({ telemetry, network, nowMs });
    this.#changeTask(telemetry);
    this.#hint.update(this.#tour.step === 'place' ? telemetry : null, nowMs);
    this.#draw(telemetry, network);
  }

  /** There is something to watch, also when the tour is taken again. Once: later a person may be driving. */
  #letExpertDrive({ input, operator }: Telemetry): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (!input.available.includes(EXPERT)) return;
    if (input.active !== EXPERT) this.#send({ kind: 'input', name: EXPERT });
    if (operator.mode === 'hold') this.#send({ kind: 'teleop' });
  }

  readonly #onPlay = (): void => this.#tour.played();

  #draw(telemetry: Telemetry, network: string): void {
    const { step } = this.#tour;
    this.#root.dataset['step'] = step ?? 'end';
    this.#skip.hidden = step === null;
    this.#setButton.hidden = step !== 'shake';
    const episode = telemetry.record?.episode ?? null;
    this.#open.hidden = step !== 'play' || episode === null;
    if (episode !== null) this.#open.href = `#/record/${encodeURIComponent(episode)}`;
    setText(this.#end, step === null ? 'Close' : 'End tour');
    const shown = step === null ? null : textOf(this.#tour, step, network);
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

  /** One cube without hurry to place; afterwards the task of before. */
  #changeTask({ world }: Telemetry): void {
    const { step } = this.#tour;
    if (step === this.#shown) return;
    const left = this.#shown;
    this.#shown = step;
    if (step === 'place') {
      if (world && world.task !== PLACE_TASK) this.#task = world.task;
      this.#send({ kind: 'world', task: PLACE_TASK, seed: 1 });
    } else if (left === 'place') this.#restoreTask();
  }

  #restoreTask(): void {
    if (this.#task !== '') this.#send({ kind: 'world', task: this.#task, seed: null });
    this.#task = '';
  }

  #setBad(): void {
    this.#send({ kind: 'link', profile: BAD_NETWORK });
    this.#send({ kind: 'playout-mode', mode: 'none' });
  }

  #skipStep(): void {
    this.#tour.skip();
  }

  /** Leaves the task, the network and the playout as a newcomer found them. */
  #close(): void {
    this.#restoreTask();
    this.#mark([]);
    document.removeEventListener('episodeplay', this.#onPlay);
    this.#root.hidden = true;
    this.#root.replaceChildren();
    this.#send({ kind: 'link', profile: 'off' });
    this.#send({ kind: 'playout-mode', mode: 'adaptive' });
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
