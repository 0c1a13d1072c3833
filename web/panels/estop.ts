import type { DeskRequest } from '../../src/messages/telemetry.ts';
import { element, setAttribute, setText } from '../dom.ts';
import { milliseconds } from './labels.ts';
import { isTextField, listenForPress, listenForStopKeys } from './stop-keys.ts';

/** The page repeats the e-stop until the robot confirms it. */
const REPEAT_MS = 250;
/** Telemetry received this soon after the press may predate it. */
const SETTLE_MS = 200;

/** The page's e-stop. It acts on press, not on release, and shows `STOPPED` only after the robot confirms it. */
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

  /** Pressed, but not even written to the socket. */
  get undelivered(): boolean {
    return this.#pending && !this.#delivered;
  }

  press(nowMs: number): void {
    this.#pending = true;
    this.#delivered = false;
    this.#pressedMs = nowMs;
    this.#sendStop(nowMs);
    this.#onPress();
    this.#draw(false);
  }

  /** `stopped`: fresh telemetry from the robot confirms it. `tookMs`: from sending the stop to that confirmation. */
  update(stopped: boolean, nowMs: number, tookMs: number | null = null): void {
    this.#tookMs = tookMs;
    if (this.#pending && stopped && nowMs - this.#pressedMs >= SETTLE_MS) this.#pending = false;
    if (this.#pending && nowMs - this.#sentMs >= REPEAT_MS) this.#sendStop(nowMs);
    this.#draw(stopped);
  }

  #sendStop(nowMs: number): void {
    this.#sentMs = nowMs;
    this.#delivered = this.#send({ kind: 'estop' });
  }

  #draw(stopped: boolean): void {
    const phase = this.#pending ? 'stopping' : stopped ? 'stopped' : 'ready';
    setAttribute(this.#button, 'data-phase', phase);
    const showTime = phase === 'stopped' && this.#tookMs !== null;
    this.#time.hidden = !showTime;
    this.#keys.hidden = showTime;
    if (showTime) setText(this.#time, `in ${milliseconds(this.#tookMs)} ms`);
    setText(this.#label, { ready: 'E-STOP', stopping: 'stopping…', stopped: 'STOPPED' }[phase]);
  }

  #listenToKeys(): void {
    listenForStopKeys(() => this.press(performance.now()));
    // In a text field Space types: the button shows that it does not stop.
    const showKeys = () => this.#keys.classList.toggle('typing', isTextField(document.activeElement));
    document.addEventListener('focusin', showKeys);
    document.addEventListener('focusout', () => setTimeout(showKeys));
  }
}
