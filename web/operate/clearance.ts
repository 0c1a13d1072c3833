import type { ConsoleScene } from '../../src/core/console.ts';
import type { Telemetry } from '../../src/core/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { partNames } from '../panels/words.ts';

/** How near the arm is to what it may not touch. */
export class ClearanceLine {
  readonly #line = element('clearance', HTMLElement);
  readonly #text = element('clearance-text', HTMLElement);
  readonly #pair = element('clearance-pair', HTMLElement);
  #scene: ConsoleScene | null = null;

  setScene(scene: ConsoleScene | null): void {
    this.#scene = scene;
  }

  update(robot: Telemetry['robot']): void {
    const clearanceM = robot?.clearanceM ?? null;
    this.#line.hidden = clearanceM === null;
    if (clearanceM === null || robot === null) return;
    const { slowdownM = 0, stopM = 0 } = this.#scene ?? {};
    const tone = clearanceM > slowdownM ? 'clear' : clearanceM > stopM ? 'near' : 'touching';
    setAttribute(this.#line, 'data-tone', tone);
    setText(this.#text, `${Math.round(clearanceM * 1000)} mm`);
    setText(this.#pair, partNames(robot.nearest));
  }
}
