import type { Telemetry } from '../../src/core/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { LinkStatus } from '../link/socket.ts';
import { milliseconds } from './words.ts';

type Tone = 'good' | 'warn' | 'bad' | 'off';

class Chip {
  readonly #root: HTMLElement;
  readonly #text: HTMLElement;

  constructor(id: string) {
    this.#root = element(id, HTMLElement);
    this.#text = element(`${id}-text`, HTMLElement);
  }

  show(tone: Tone, text: string): void {
    setAttribute(this.#root, 'data-tone', tone);
    setText(this.#text, text);
  }
}

const INPUT_TONES: Record<string, Tone> = { ok: 'good', stale: 'warn', none: 'off' };
const INPUT_WORDS: Record<string, string> = { ok: 'tracking', stale: 'stale', none: 'no signal' };

/** The three links a command depends on: page, robot, hand. */
export class HeaderChips {
  readonly #console = new Chip('chip-console');
  readonly #robot = new Chip('chip-robot');
  readonly #input = new Chip('chip-input');

  update(link: LinkStatus, fresh: boolean, telemetry: Telemetry | null): void {
    const words: Record<LinkStatus, string> = { open: 'live', connecting: 'connecting', closed: 'offline' };
    if (link !== 'open') this.#console.show('bad', words[link]);
    else this.#console.show(fresh ? 'good' : 'warn', fresh ? 'live' : 'silent');
    if (!fresh || telemetry === null) {
      this.#robot.show('off', '—');
      this.#input.show('off', '—');
      return;
    }
    const { connected, stateAgeMs } = telemetry.link;
    this.#robot.show(
      connected ? 'good' : 'bad',
      connected ? `${milliseconds(stateAgeMs, 0)} ms ago` : 'none',
    );
    const { status, clutch } = telemetry.input;
    this.#input.show(
      INPUT_TONES[status] ?? 'warn',
      clutch && status === 'ok' ? 'clutch on' : (INPUT_WORDS[status] ?? status),
    );
  }
}
