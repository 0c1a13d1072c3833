import type { LinkRequest } from '../../src/messages/console.ts';
import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { create, element } from '../dom.ts';
import type { IsBlocked } from './hint-line.ts';
import type { TourCard } from './tour-card.ts';
import { forgetOffer, isNewcomer } from './tour-offer.ts';

/** Offers the tour to a newcomer of a demo with a simulated world, and loads it on request. */
export class TourHost {
  readonly #root = element('tour', HTMLElement);
  readonly #button = element('tour-open', HTMLButtonElement);
  readonly #send: (request: DeskRequest | LinkRequest) => void;
  readonly #isBlocked: IsBlocked;
  #network = '';
  #isWatching = false;
  #card: TourCard | null = null;
  #offers = isNewcomer();

  constructor(send: (request: DeskRequest | LinkRequest) => void, isBlocked: IsBlocked) {
    this.#send = send;
    this.#isBlocked = isBlocked;
    this.#button.addEventListener('click', () => void this.#start());
  }

  /** Only a demo has an emulated network. */
  setNetwork(network: string): void {
    this.#network = network;
  }

  /** This page may send no requests: a tour would go nowhere. */
  setWatching(isWatching: boolean): void {
    this.#isWatching = isWatching;
  }

  update(telemetry: Telemetry, nowMs: number): void {
    const fits = this.#network !== '' && telemetry.world != null && !this.#isWatching;
    this.#button.hidden = !fits || this.#card !== null;
    if (this.#card !== null) this.#card.update(telemetry, this.#network, nowMs);
    else if (fits && this.#offers) this.#offer();
  }

  #offer(): void {
    this.#offers = false;
    const words = create('div', 'tour-words');
    words.append(
      create('strong', 'tour-title', 'First time here?'),
      create('p', 'tour-text', 'Two minutes: drive the arm, feel bad Wi-Fi, record, play back.'),
    );
    const actions = create('div', 'tour-actions');
    const [start, decline] = ['Start the tour', 'No, thanks'].map((label, i) => {
      const made = create('button', i === 0 ? 'plain strong' : 'plain', label);
      made.setAttribute('type', 'button');
      made.dataset['testid'] = i === 0 ? 'tour-start' : 'tour-decline';
      return made;
    }) as [HTMLElement, HTMLElement];
    start.addEventListener('click', () => void this.#start());
    decline.addEventListener('click', () => {
      forgetOffer();
      this.#root.hidden = true;
    });
    actions.append(start, decline);
    this.#root.replaceChildren(words, actions);
    this.#root.hidden = false;
  }

  async #start(): Promise<void> {
    const { TourCard } = await import('./tour-card.ts');
    this.#card ??= new TourCard(this.#send, this.#isBlocked, () => {
      this.#card = null;
    });
  }
}
