import type { DeskRequest, Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { isTyping } from '../drive/keys.ts';

const SIDES = ['left', 'right'] as const;

/** Of two arms: the state of each, and which one the page's hand drives. Hidden for one arm. */
export class ArmsLine {
  readonly #root = element('arms', HTMLElement);
  readonly #buttons = SIDES.map((side) => element(`arm-${side}`, HTMLButtonElement));
  readonly #states = SIDES.map((side) => element(`arm-${side}-state`, HTMLElement));
  readonly #send: (request: DeskRequest) => void;
  #driven: number | null = null;

  /** `beforeChange` opens the clutch: the arm that the hand leaves must hold. */
  constructor(send: (request: DeskRequest) => void, beforeChange: () => void) {
    this.#send = (request) => {
      beforeChange();
      send(request);
    };
    this.#buttons.forEach((button, i) => {
      button.addEventListener('click', () => this.#send({ kind: 'drive', side: SIDES[i]! }));
    });
    window.addEventListener('keydown', (event) => {
      if (event.code !== 'KeyT' || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.#driven !== null && !isTyping(event.target))
        this.#send({ kind: 'drive', side: SIDES[1 - this.#driven]! });
    });
  }

  update({ arms }: Telemetry): void {
    this.#root.hidden = arms === undefined;
    this.#driven = arms === undefined ? null : arms.findIndex(({ isDriven }) => isDriven);
    arms?.forEach(({ isDriven, robot }, i) => {
      setAttribute(this.#buttons[i]!, 'aria-pressed', String(isDriven));
      setText(this.#states[i]!, robot?.state ?? 'disconnected');
    });
  }
}
