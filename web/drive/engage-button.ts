import { element, setAttribute, setText } from '../dom.ts';
import type { Clutch } from './clutch.ts';

/** A longer press is a hold and releasing it opens the clutch. A shorter press latches, except by touch. */
const TAP_MS = 300;
/** A click this soon after the pointer was released belongs to it; a later one comes from the keyboard. */
const CLICK_AFTER_MS = 50;
const isTouchScreen = matchMedia('(pointer: coarse)');

/** Click to latch and click again to release, or hold down. Enter latches too. A finger must stay on it. */
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
      this.#released(event.pointerType !== 'touch' && event.timeStamp - downAtMs < TAP_MS);
    });
    this.#button.addEventListener('pointercancel', () => this.#released(false));
    this.#button.addEventListener('click', (event) => {
      if (event.timeStamp - handledAtMs > CLICK_AFTER_MS) this.#toggle();
    });
  }

  /** `atEdge`: the hand is at the side of its box and moves no further that way. */
  draw(atEdge: boolean): void {
    const { closed, permitted } = this.#clutch;
    this.#button.disabled = !permitted;
    setAttribute(this.#button, 'aria-pressed', String(closed));
    setText(this.#label, closed ? 'Engaged' : 'Engage');
    setText(this.#hint, atEdge && closed ? 'end of range: let go, press C' : this.#advice());
  }

  #advice(): string {
    if (!this.#clutch.permitted) return 'robot is not armed';
    if (this.#clutch.has('latched')) return 'click to release';
    if (this.#clutch.closed) return 'let go to hold still';
    return isTouchScreen.matches ? 'hold, or drag the pad' : 'click, or hold Shift';
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
