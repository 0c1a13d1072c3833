import { create, setAttribute, setText } from '../dom.ts';

/** The Virtual Bento's keys: one increases the counts, one decreases them. */
const KEYS: readonly { up: [code: string, cap: string, what: string]; down: [string, string, string] }[] = [
  { up: ['KeyD', 'D', 'right'], down: ['KeyA', 'A', 'left'] },
  { up: ['KeyW', 'W', 'up'], down: ['KeyS', 'S', 'down'] },
  { up: ['Semicolon', ';', 'right'], down: ['KeyK', 'K', 'left'] },
  { up: ['KeyO', 'O', 'up'], down: ['KeyL', 'L', 'down'] },
  { up: ['ShiftLeft', '⇧ left', 'open'], down: ['ShiftRight', '⇧ right', 'close'] },
];
const UP = 1;
const DOWN = 2;
const SEND_MS = 30;
/** How often the stop is sent after release. */
const STOPS = 4;
const DEG_PER_COUNT = 360 / 4096;

/** The five joints: their positions, and the keys and buttons that move them while held. */
export class JointKeys {
  readonly #list: HTMLElement;
  readonly #send: (states: readonly number[]) => void;
  readonly #held = new Set<string>();
  readonly #buttons = new Map<string, HTMLElement>();
  #rows: { row: HTMLElement; dot: HTMLElement; text: HTMLElement }[] = [];
  #stops = 0;

  constructor(list: HTMLElement, send: (states: readonly number[]) => void) {
    this.#list = list;
    this.#send = send;
    const codes = new Set(KEYS.flatMap(({ up, down }) => [up[0], down[0]]));
    addEventListener('keydown', (event) => {
      if (!codes.has(event.code) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#hold(event.code, true);
    });
    addEventListener('keyup', (event) => this.#hold(event.code, false));
    addEventListener('blur', () => this.#releaseAll());
    document.addEventListener('visibilitychange', () => this.#releaseAll());
    setInterval(() => this.#pass(), SEND_MS);
  }

  setJoints(names: readonly string[]): void {
    if (this.#rows.length === names.length) return;
    this.#rows = names.map((name, i) => this.#row(name.replace('_', ' '), KEYS[i]!));
    this.#list.replaceChildren(...this.#rows.map(({ row }) => row));
  }

  show(counts: readonly number[], limits: readonly number[], speeds: readonly number[]): void {
    this.#rows.forEach(({ row, dot, text }, i) => {
      const [min = 0, max = 1] = limits.slice(2 * i);
      const at = Math.max(0, Math.min(1, (counts[i]! - min) / Math.max(1, max - min)));
      dot.style.left = `${(100 * at).toFixed(1)}%`;
      setText(text, `${(counts[i]! * DEG_PER_COUNT - 180).toFixed(1)}° · ${counts[i]}`);
      setAttribute(row, 'data-moving', String(speeds[i]! > 0));
    });
  }

  #row(name: string, { up, down }: (typeof KEYS)[number]) {
    const row = create('li');
    const dot = create('i');
    const bar = create('div', 'bar');
    bar.append(dot);
    const text = create('output');
    row.append(create('b', '', name), text, this.#button(down), bar, this.#button(up));
    return { row, dot, text };
  }

  #button([code, cap, what]: readonly [string, string, string]): HTMLElement {
    const button = create('button', '', `${what} `);
    button.setAttribute('type', 'button');
    button.append(create('kbd', '', cap));
    button.addEventListener('pointerdown', (event) => {
      button.setPointerCapture(event.pointerId);
      this.#hold(code, true);
    });
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'])
      button.addEventListener(end, () => this.#hold(code, false));
    this.#buttons.set(code, button);
    return button;
  }

  #hold(code: string, down: boolean): void {
    if (this.#held.has(code) === down) return;
    if (down) this.#held.add(code);
    else this.#held.delete(code);
    const button = this.#buttons.get(code);
    if (button) setAttribute(button, 'aria-pressed', String(down));
    this.#stops = STOPS;
    this.#pass();
  }

  #releaseAll(): void {
    for (const code of [...this.#held]) this.#hold(code, false);
  }

  /** Sends only while a key is held or was just released: another controller may be driving. */
  #pass(): void {
    if (this.#held.size === 0 && this.#stops-- <= 0) return;
    this.#send(
      KEYS.map(({ up, down }) => {
        const [isUp, isDown] = [this.#held.has(up[0]), this.#held.has(down[0])];
        return isUp === isDown ? 0 : isUp ? UP : DOWN;
      }),
    );
  }
}
