import { type PlaceHint, placeHint } from '../../src/desk/place-hint.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { atMostEvery, create } from '../dom.ts';

const KEYS: Record<PlaceHint['kind'], readonly [key: string, word: string]> = {
  forward: ['W', 'forward'],
  back: ['S', 'back'],
  left: ['A', 'left'],
  right: ['D', 'right'],
  up: ['E', 'up'],
  down: ['Q', 'down'],
  gripper: ['G', 'gripper'],
};

/** The next key, and how far. Not announced: it changes several times a second. */
export class HintLine {
  readonly root = create('span', 'tour-hint');
  #telemetry: Telemetry | null = null;
  readonly #draw = atMostEvery(100, () => this.#show());

  constructor() {
    this.root.dataset['testid'] = 'tour-hint';
    this.root.setAttribute('aria-live', 'off');
  }

  /** Null: no hint. */
  update(telemetry: Telemetry | null, nowMs: number): void {
    this.#telemetry = telemetry;
    this.#draw(nowMs);
  }

  #show(): void {
    const hint = this.#telemetry && placeHint(this.#telemetry);
    this.root.hidden = hint === null;
    if (hint === null) return;
    const [key, word] = KEYS[hint.kind];
    const centimetres = Math.max(1, Math.round(100 * hint.distanceM));
    const text = hint.kind === 'gripper' ? word : `${word} ${centimetres} cm`;
    this.root.dataset['key'] = key.toLowerCase();
    this.root.dataset['mm'] = String(Math.round(1000 * hint.distanceM));
    this.root.replaceChildren(create('kbd', '', key), ` ${text}`);
  }
}
