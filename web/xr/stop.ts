import { isFist } from '../../src/hand/gestures.ts';
import type { XrPacket, XrSide } from '../../src/input/codecs/webxr-codec.ts';

/** B and Y of the usual controllers. */
const STOP_BUTTON = 1 << 5;
/** Two fists count when they last: hands pass through many shapes. */
const FISTS_MS = 250;
/** Until the robot says that it stopped, the request is repeated. */
const REPEAT_MS = 100;
const SETTLE_MS = 200;

/** The stop of the headset: two fists, a button of either controller, or whatever calls `press`. */
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

  /** Asked for, and not yet confirmed by the robot: also told in every packet of poses. */
  get pending(): boolean {
    return this.#pending;
  }

  press(nowMs: number): void {
    this.#pressedMs = nowMs;
    this.#pending = true;
    this.#repeat(nowMs);
  }

  /** From each frame. */
  look({ left, right }: XrPacket, nowMs: number): void {
    const button = ((left.buttons | right.buttons) & STOP_BUTTON) !== 0;
    if (!(isClenched(left) && isClenched(right))) this.#fistsMs = Number.NaN;
    else if (Number.isNaN(this.#fistsMs)) this.#fistsMs = nowMs;
    const asked = button || nowMs - this.#fistsMs >= FISTS_MS;
    if (asked && !this.#held) this.press(nowMs);
    this.#held = asked;
  }

  /** From telemetry, and now and then without: `stopped` is the robot's own word. */
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
