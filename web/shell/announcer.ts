import { element, setText } from '../dom.ts';

/** Says what changed to those who do not see the page; only changes of state, never numbers. */
export class Announcer {
  readonly #region = element('announce', HTMLElement);
  #said = '';

  say(text: string): void {
    if (text === this.#said) return;
    this.#said = text;
    setText(this.#region, text);
  }
}
