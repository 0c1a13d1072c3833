import type { ConsoleScene } from '../../src/messages/console.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { partNames } from '../panels/labels.ts';

export type ClearanceTone = 'clear' | 'near' | 'touching';

/** Follows the supervisor: parts that are close in every pose do not limit the motion. */
export function clearanceTone(
  { limitedBy, clearanceM }: NonNullable<Telemetry['robot']>,
  scene: ConsoleScene | null,
): ClearanceTone {
  if (limitedBy !== 'collision' || clearanceM === null) return 'clear';
  return clearanceM > (scene?.stopM ?? 0) ? 'near' : 'touching';
}

/** The smallest distance between the arm and itself or an obstacle. */
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
    setAttribute(this.#line, 'data-tone', clearanceTone(robot, this.#scene));
    setText(this.#text, `${Math.round(clearanceM * 1000)} mm`);
    setText(this.#pair, partNames(robot.nearest));
  }
}
