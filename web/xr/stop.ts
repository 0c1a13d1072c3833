import { isFist } from '../../src/hand/gestures.ts';
import type { XrPacket, XrSide } from '../../src/input/codecs/webxr-codec.ts';

/** B or Y in the standard controller layout. */
const STOP_BUTTON = 1 << 5;
/** Two fists must last this long: moving hands pass through many shapes. */
const FISTS_MS = 250;
/** The page repeats the e-stop until the robot confirms it. */
const REPEAT_MS = 100;
const SETTLE_MS = 200;

/** The headset's e-stop: two fists, a button of either controller, or a call of `press`. */
export class HeadsetStop {
  readonly #send: () => boolean;
  #fistsMs = Number.NaN;
  #pressedMs = Number.NEGATIVE_INFINITY;
  #sentMs = Number.NEGATIVE_INFINITY;
  #held = false;
  #pending = false;

  constructor(send: () => boolean) {
    this.#send = send;
  }

  /** Requested and not yet confirmed by the robot. Every pose packet repeats it. */
  get pending(): boolean {
    return this.#pending;
  }

  press(nowMs: number): void {
    this.#pressedMs = nowMs;
    this.#pending = true;
    this.#repeat(nowMs);
  }

  /** Call with the poses of each frame. */
  checkGestures({ left, right }: XrPacket, nowMs: number): void {
    const button = ((left.buttons | right.buttons) & STOP_BUTTON) !== 0;
    if (!(isClenched(left) && isClenched(right))) this.#fistsMs = Number.NaN;
    else if (Number.isNaN(this.#fistsMs)) this.#fistsMs = nowMs;
    const requested = button || nowMs - this.#fistsMs >= FISTS_MS;
    if (requested && !this.#held) this.press(nowMs);
    this.#held = requested;
  }

  /** Call with each telemetry message and regularly in between. `stopped`: the robot confirms it. */
  update(stopped: boolean, nowMs: number): void {
    if (!this.#pending) return;
    if (stopped && nowMs - this.#pressedMs > SETTLE_MS) this.#pending = false;
    else if (nowMs - this.#sentMs > REPEAT_MS) this.#repeat(nowMs);
  }

  #repeat(nowMs: number): void {
    this.#sentMs = nowMs;
    this.#send();
  }
}

const isClenched = (side: XrSide): boolean => side.kind === 'hand' && side.tracked && isFist(side.jointsM);
