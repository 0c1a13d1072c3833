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

/** Whether the hand can move no further in the direction of a driving key. */
export type IsBlocked = (code: string) => boolean;

const isTouch = matchMedia('(pointer: coarse)');

/** The next key, and how far. Not announced: it changes several times a second. */
export class HintLine {
  readonly root = create('span', 'tour-hint');
  #telemetry: Telemetry | null = null;
  readonly #isBlocked: IsBlocked;
  readonly #draw = atMostEvery(100, () => this.#show());

  constructor(isBlocked: IsBlocked) {
    this.#isBlocked = isBlocked;
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
    if (hint.kind !== 'gripper' && this.#isBlocked(`Key${key}`)) return this.#showEdge();
    const centimetres = Math.max(1, Math.round(100 * hint.distanceM));
    const text = hint.kind === 'gripper' ? word : `${word} ${centimetres} cm`;
    this.root.dataset['key'] = key.toLowerCase();
    this.root.dataset['mm'] = String(Math.round(1000 * hint.distanceM));
    const lead = isTouch.matches ? 'Next: ' : 'Hold Shift and press: ';
    this.root.replaceChildren(create('span', '', lead), create('kbd', '', key), ` ${text}`);
  }

  /** The robot counts motion from where the clutch closes: centre the hand, then go on. */
  #showEdge(): void {
    this.root.dataset['key'] = 'c';
    this.root.dataset['mm'] = '0';
    const lead = 'The hand is at the end of its range. ';
    if (isTouch.matches) this.root.replaceChildren(`${lead}Let go, press Centre, and go on.`);
    else this.root.replaceChildren(`${lead}Release Shift, press `, create('kbd', '', 'C'), ', and go on.');
  }
}
