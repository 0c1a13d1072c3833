import { element, setText } from '../dom.ts';

/** Announces state changes to screen readers; never numbers. */
export class Announcer {
  readonly #region = element('announce', HTMLElement);
  #announced = '';

  announce(text: string): void {
    if (text === this.#announced) return;
    this.#announced = text;
    setText(this.#region, text);
  }
}
