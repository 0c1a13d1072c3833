/**
 * Buttons and axes of a device on this machine, whole in every datagram: a lost one is replaced by the next.
 * Little-endian: "K", version 1, number of keys, 0; six int16 axes; one uint16 per pressed key.
 */
export const CONTROL_AXES = 6;
/** Keys pressed at a time; further ones are left out. */
export const MAX_PRESSED = 8;
const HEADER_BYTES = 4;
const KEYS_AT = HEADER_BYTES + 2 * CONTROL_AXES;
export const MAX_CONTROLS_BYTES = KEYS_AT + 2 * MAX_PRESSED;
const MAGIC = 0x4b;
const VERSION = 1;

export interface Controls {
  /** Counts of the device: x, y, z, then the rotations about them. */
  readonly axes: Int16Array;
  /** Codes of the pressed keys, `pressed` of them. */
  readonly keys: Uint16Array;
  pressed: number;
}

export const emptyControls = (): Controls => ({
  axes: new Int16Array(CONTROL_AXES),
  keys: new Uint16Array(MAX_PRESSED),
  pressed: 0,
});

/** Fills `out` and returns its length. */
export function encodeControls({ axes, keys, pressed }: Controls, out: Uint8Array): number {
  const view = new DataView(out.buffer, out.byteOffset, out.byteLength);
  out.set([MAGIC, VERSION, pressed, 0]);
  for (let i = 0; i < CONTROL_AXES; i++) view.setInt16(HEADER_BYTES + 2 * i, axes[i]!, true);
  for (let i = 0; i < pressed; i++) view.setUint16(KEYS_AT + 2 * i, keys[i]!, true);
  return KEYS_AT + 2 * pressed;
}

/** False, and `out` unchanged, for anything else. Hot path. */
export function decodeControls(bytes: Uint8Array, length: number, out: Controls): boolean {
  if (length < KEYS_AT || bytes[0] !== MAGIC || bytes[1] !== VERSION || bytes[3] !== 0) return false;
  const pressed = bytes[2]!;
  if (pressed > MAX_PRESSED || length !== KEYS_AT + 2 * pressed) return false;
  for (let i = 0; i < CONTROL_AXES; i++) out.axes[i] = uint16At(bytes, HEADER_BYTES + 2 * i);
  for (let i = 0; i < pressed; i++) out.keys[i] = uint16At(bytes, KEYS_AT + 2 * i);
  out.pressed = pressed;
  return true;
}

export function isPressed({ keys, pressed }: Controls, key: number): boolean {
  for (let i = 0; i < pressed; i++) if (keys[i] === key) return true;
  return false;
}

const uint16At = (bytes: Uint8Array, at: number): number => bytes[at]! | (bytes[at + 1]! << 8);
