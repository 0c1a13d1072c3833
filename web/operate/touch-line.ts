import { touchNm } from '../../src/hand/touch-feel.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';

/** Above these, the line is amber and red. */
const NEAR_NM = 0.12;
const HARD_NM = 5;

/** What presses on the robot from outside, where its driver knows. */
export class TouchLine {
  readonly #line = element('touch', HTMLElement);
  readonly #text = element('touch-text', HTMLElement);
  readonly #grip = element('touch-grip', HTMLElement);
  #felt = '';

  update({ robot, world = null }: Telemetry): void {
    const nm = touchNm(robot?.externalNm ?? null);
    this.#line.hidden = nm === null;
    if (nm === null) return;
    setAttribute(this.#line, 'data-tone', nm < NEAR_NM ? 'clear' : nm < HARD_NM ? 'near' : 'touching');
    const forceN = world?.contact?.forceN;
    setText(
      this.#text,
      nm < NEAR_NM ? 'none' : `${nm.toFixed(1)} N·m${forceN ? `, ${forceN.toFixed(0)} N` : ''}`,
    );
    const grip = robot?.gripperN ?? 0;
    setText(this.#grip, `${grip > 0.5 ? `grip ${grip.toFixed(0)} N ` : ''}${this.#felt}`);
  }

  /** A pulse was given for the contact in this message. */
  felt({ robot }: Telemetry): void {
    const ms = robot?.readingMs ?? null;
    this.#felt = ms === null ? '' : `pulse after ${ms.toFixed(0)} ms`;
  }
}
