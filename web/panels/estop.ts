import type { DeskRequest } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { isTextField, listenForPress, listenForStopKeys } from './stop-keys.ts';
import { milliseconds } from './words.ts';

/** Until the robot says that it stopped, the request is repeated. */
const REPEAT_MS = 250;
/** Telemetry this soon after the press may be older than the press. */
const SETTLE_MS = 200;

/** The stop of the page. It acts on press, not on release, and believes only the robot that it worked. */
export class Estop {
  readonly #button = element('estop', HTMLButtonElement);
  readonly #label = element('estop-label', HTMLElement);
  readonly #keys = element('estop-keys', HTMLElement);
  readonly #time = element('estop-time', HTMLElement);
  readonly #send: (request: DeskRequest) => boolean;
  readonly #onPress: () => void;
  #pressedMs = Number.NEGATIVE_INFINITY;
  #sentMs = Number.NEGATIVE_INFINITY;
  #pending = false;
  #delivered = false;
  #tookMs: number | null = null;

  constructor(send: (request: DeskRequest) => boolean, onPress: () => void) {
    this.#send = send;
    this.#onPress = onPress;
    listenForPress(this.#button, () => this.press(performance.now()));
    this.#listenToKeys();
  }

  get pending(): boolean {
    return this.#pending;
  }

  /** Pressed, and not even handed to the socket. */
  get undelivered(): boolean {
    return this.#pending && !this.#delivered;
  }

  press(nowMs: number): void {
    this.#pending = true;
    this.#delivered = false;
    this.#pressedMs = nowMs;
    this.#try(nowMs);
    this.#onPress();
    this.#draw(false);
  }

  /** `stopped`: the robot itself, freshly, says so; `tookMs`: how long after the stop had left for it. */
  update(stopped: boolean, nowMs: number, tookMs: number | null = null): void {
    this.#tookMs = tookMs;
    if (this.#pending && stopped && nowMs - this.#pressedMs >= SETTLE_MS) this.#pending = false;
    if (this.#pending && nowMs - this.#sentMs >= REPEAT_MS) this.#try(nowMs);
    this.#draw(stopped);
  }

  #try(nowMs: number): void {
    this.#sentMs = nowMs;
    this.#delivered = this.#send({ kind: 'estop' });
  }

  #draw(stopped: boolean): void {
    const phase = this.#pending ? 'stopping' : stopped ? 'stopped' : 'ready';
    setAttribute(this.#button, 'data-phase', phase);
    const told = phase === 'stopped' && this.#tookMs !== null;
    this.#time.hidden = !told;
    this.#keys.hidden = told;
    if (told) setText(this.#time, `robot stopped in ${milliseconds(this.#tookMs)} ms`);
    setText(this.#label, { ready: 'E-STOP', stopping: 'stopping…', stopped: 'STOPPED' }[phase]);
  }

  #listenToKeys(): void {
    listenForStopKeys(() => this.press(performance.now()));
    // Where Space is for typing, the button says so.
    const showKeys = () => this.#keys.classList.toggle('typing', isTextField(document.activeElement));
    document.addEventListener('focusin', showKeys);
    document.addEventListener('focusout', () => setTimeout(showKeys));
  }
}
