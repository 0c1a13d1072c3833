import { CONTROL_AXES, type Controls, MAX_PRESSED } from './controls-codec.ts';

/** `struct input_event` of 64-bit Linux: 16 bytes of time, uint16 type, uint16 code, int32 value. */
export const EVENT_BYTES = 24;
const TIME_BYTES = 16;
const TYPE = { syn: 0, key: 1, relative: 2, absolute: 3 } as const;
const SYN_DROPPED = 3;
/** A relative axis is reported while it is deflected, several times in this long; its return to zero is not. */
const RELATIVE_VALID_NS = 80e6;

/**
 * What a device of Linux's input layer is doing, from the bytes of its `/dev/input/event…` file. After lost
 * events nothing counts as pressed until it is pressed again.
 */
export class EvdevState {
  readonly #pressed = new Set<number>();
  readonly #axes = new Int16Array(CONTROL_AXES);
  /** Until when each axis counts; absolute ones report every change and always do. */
  readonly #validUntilNs = new Float64Array(CONTROL_AXES).fill(Number.POSITIVE_INFINITY);
  readonly #rest = new Uint8Array(EVENT_BYTES);
  #restBytes = 0;
  /** Events between a loss and the end of its report are incomplete. */
  #isLost = false;

  /** Bytes as they were read, whole events or not. */
  take(bytes: Uint8Array, nowNs: number): void {
    let at = 0;
    while (at < bytes.length) {
      const part = Math.min(EVENT_BYTES - this.#restBytes, bytes.length - at);
      this.#rest.set(bytes.subarray(at, at + part), this.#restBytes);
      this.#restBytes += part;
      at += part;
      if (this.#restBytes < EVENT_BYTES) return;
      this.#restBytes = 0;
      this.#event(new DataView(this.#rest.buffer, TIME_BYTES), nowNs);
    }
  }

  #event(view: DataView, nowNs: number): void {
    const [type, code, value] = [
      view.getUint16(0, true),
      view.getUint16(2, true),
      view.getInt32(4, true),
    ] as const;
    if (type === TYPE.syn) this.#isLost = code === SYN_DROPPED || (this.#isLost && code !== 0);
    if (this.#isLost) return this.clear();
    if (type === TYPE.key) this.#key(code, value);
    if ((type !== TYPE.relative && type !== TYPE.absolute) || code >= CONTROL_AXES) return;
    this.#axes[code] = Math.max(-32768, Math.min(32767, value));
    this.#validUntilNs[code] = type === TYPE.relative ? nowNs + RELATIVE_VALID_NS : Number.POSITIVE_INFINITY;
  }

  /** Value 2 repeats a pressed key. */
  #key(code: number, value: number): void {
    if (value === 0) this.#pressed.delete(code);
    else if (value === 1) this.#pressed.add(code);
  }

  /** The device is gone, or its state is unknown. */
  clear(): void {
    this.#pressed.clear();
    this.#axes.fill(0);
  }

  fill(nowNs: number, out: Controls): void {
    for (let i = 0; i < CONTROL_AXES; i++) out.axes[i] = nowNs <= this.#validUntilNs[i]! ? this.#axes[i]! : 0;
    out.pressed = 0;
    for (const key of this.#pressed) if (out.pressed < MAX_PRESSED) out.keys[out.pressed++] = key;
  }
}

/** One event, for simulated devices. */
export function encodeEvent(type: keyof typeof TYPE, code: number, value: number): Uint8Array {
  const bytes = new Uint8Array(EVENT_BYTES);
  const view = new DataView(bytes.buffer, TIME_BYTES);
  view.setUint16(0, TYPE[type], true);
  view.setUint16(2, code, true);
  view.setInt32(4, value, true);
  return bytes;
}
