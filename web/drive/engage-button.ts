import { element, setAttribute, setText } from '../dom.ts';
import type { Clutch } from './clutch.ts';

/** A longer press is a hold and releasing it opens the clutch. A shorter press latches. */
const TAP_MS = 300;

/** Tap to latch and tap again to release, or hold down. Enter latches too. */
export class EngageButton {
  readonly #button = element('engage', HTMLButtonElement);
  readonly #label = element('engage-label', HTMLElement);
  readonly #hint = element('engage-hint', HTMLElement);
  readonly #clutch: Clutch;
  readonly #changed: () => void;

  constructor(clutch: Clutch, changed: () => void) {
    this.#clutch = clutch;
    this.#changed = changed;
    let downAtMs = 0;
    let handledAtMs = Number.NEGATIVE_INFINITY;
    this.#button.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      this.#button.setPointerCapture(event.pointerId);
      downAtMs = event.timeStamp;
      if (clutch.has('latched')) return;
      clutch.press('held');
      changed();
    });
    this.#button.addEventListener('pointerup', (event) => {
      handledAtMs = event.timeStamp;
      this.#released(event.timeStamp - downAtMs < TAP_MS);
    });
    this.#button.addEventListener('pointercancel', () => this.#released(false));
    this.#button.addEventListener('click', (event) => {
      if (event.timeStamp - handledAtMs > 50) this.#toggle();
    });
  }

  draw(): void {
    const { closed, permitted } = this.#clutch;
    this.#button.disabled = !permitted;
    setAttribute(this.#button, 'aria-pressed', String(closed));
    setText(this.#label, closed ? 'Engaged' : 'Engage');
    setText(this.#hint, this.#advice());
  }

  #advice(): string {
    if (!this.#clutch.permitted) return 'robot is not armed';
    if (this.#clutch.has('latched')) return 'tap to release';
    return this.#clutch.closed ? 'let go to release' : 'tap, or hold Shift';
  }

  #released(tapped: boolean): void {
    const wasHeld = this.#clutch.has('held');
    this.#clutch.release('held');
    if (tapped && wasHeld) this.#clutch.press('latched');
    else this.#clutch.release('latched');
    this.#changed();
  }

  #toggle(): void {
    if (this.#clutch.has('latched')) this.#clutch.release('latched');
    else this.#clutch.press('latched');
    this.#changed();
  }
}
