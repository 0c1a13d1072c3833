import type { SupervisorState } from '../../src/messages/robot-state.ts';
import type { Telemetry } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import type { LinkStatus } from '../link/page-link.ts';

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

const STATE_TONES: Record<SupervisorState, Tone> = {
  disconnected: 'bad',
  idle: 'off',
  armed: 'warn',
  engaged: 'good',
  hold: 'warn',
  stopped: 'bad',
};
const STATE_LABELS: Record<SupervisorState, string> = {
  disconnected: 'offline',
  idle: 'idle',
  armed: 'armed',
  engaged: 'engaged',
  hold: 'hold',
  stopped: 'stopped',
};

const INPUT_TONES: Record<string, Tone> = { ok: 'good', stale: 'warn', none: 'off' };
const INPUT_LABELS: Record<string, string> = { ok: 'tracking', stale: 'stale', none: 'no signal' };

/** Status of console, robot and input. */
export class HeaderChips {
  readonly #record = element('chip-record', HTMLElement);
  readonly #recordText = element('chip-record-text', HTMLElement);
  readonly #console = new Chip('chip-console');
  readonly #robot = new Chip('chip-robot');
  readonly #input = new Chip('chip-input');

  /** `drives`: the Operate page is shown; on the others, the page's own hand rests. */
  update(link: LinkStatus, fresh: boolean, telemetry: Telemetry | null, drives: boolean): void {
    const words: Record<LinkStatus, string> = { open: 'live', connecting: 'connecting', closed: 'offline' };
    if (link !== 'open') this.#console.show('bad', words[link]);
    else this.#console.show(fresh ? 'good' : 'warn', fresh ? 'live' : 'no data');
    const recording = fresh && telemetry?.record?.state === 'recording';
    this.#record.hidden = !recording;
    if (recording) setText(this.#recordText, `REC ${Math.floor(telemetry.record?.durationS ?? 0)} s`);
    if (!fresh || telemetry === null) {
      this.#robot.show('off', '—');
      this.#input.show('off', '—');
      return;
    }
    const state = telemetry.link.connected ? (telemetry.robot?.state ?? 'disconnected') : 'disconnected';
    this.#robot.show(STATE_TONES[state], STATE_LABELS[state]);
    const { active, status, clutch } = telemetry.input;
    if (active === 'page' && !drives) return this.#input.show('off', 'resting');
    this.#input.show(
      INPUT_TONES[status] ?? 'warn',
      clutch && status === 'ok' ? 'moving' : (INPUT_LABELS[status] ?? status),
    );
  }
}
