import { type CanFrame, emptyFrame } from './can-frame.ts';

/**
 * Damiao's USB-CAN adapter: 30 bytes per frame to it, 16 per frame from it. Classic frames with 11-bit ids
 * only.
 */
export const TO_ADAPTER_BYTES = 30;
export const FROM_ADAPTER_BYTES = 16;

/** The bytes the vendor's program sends before an id; their meaning is not documented. */
const TO_HEAD = [0x55, 0xaa, 0x1e, 0x03, 0x01, 0, 0, 0, 0x0a, 0, 0, 0, 0];
const ID_AT = 13;
const LENGTH_AT = 18;
const DATA_AT = 21;
const FROM_HEAD = 0xaa;
const FROM_TAIL = 0x55;
/** Second byte of a message that carries a received frame. */
const RECEIVED = 0x11;
const FROM_ID_AT = 3;
const FROM_DATA_AT = 7;

/** Hot path. Returns the end of the 30 bytes; −1 for a frame the adapter cannot send. */
export function encodeToAdapter(frame: CanFrame, out: Uint8Array, at: number): number {
  const { id, extended, remote, fd, length, data } = frame;
  if (extended || remote || fd || id < 0 || id > 0x7ff || length < 0 || length > 8) return -1;
  out.fill(0, at, at + TO_ADAPTER_BYTES);
  for (let i = 0; i < TO_HEAD.length; i++) out[at + i] = TO_HEAD[i]!;
  out[at + ID_AT] = id;
  out[at + ID_AT + 1] = id >> 8;
  out[at + LENGTH_AT] = length;
  for (let i = 0; i < length; i++) out[at + DATA_AT + i] = data[i]!;
  return at + TO_ADAPTER_BYTES;
}

/** For simulators: the adapter's message for an 8-byte frame on the bus. */
export function encodeFromAdapter({ id, length, data }: CanFrame, out: Uint8Array, at: number): number {
  out.fill(0, at, at + FROM_ADAPTER_BYTES);
  out[at] = FROM_HEAD;
  out[at + 1] = RECEIVED;
  out[at + 2] = length;
  for (let i = 0; i < 4; i++) out[at + FROM_ID_AT + i] = id >>> (8 * i);
  for (let i = 0; i < length; i++) out[at + FROM_DATA_AT + i] = data[i]!;
  out[at + FROM_ADAPTER_BYTES - 1] = FROM_TAIL;
  return at + FROM_ADAPTER_BYTES;
}

export interface AdapterHandler {
  /** Reused after the call. */
  onFrame(frame: CanFrame): void;
  /** Bytes that belong to no message; called once per run of them. */
  onGarbage(): void;
  /** A complete message that does not carry a frame. */
  onOther(kind: number): void;
}

/** Cuts a stream into fixed-size messages by their first and last bytes; resynchronises after garbage. */
class FixedCutter {
  readonly #window: Uint8Array;
  readonly #isWhole: (bytes: Uint8Array) => boolean;
  readonly #isStart: (bytes: Uint8Array, count: number) => boolean;
  readonly #onMessage: (bytes: Uint8Array) => void;
  readonly #onGarbage: () => void;
  #count = 0;
  #lost = false;

  constructor(
    size: number,
    isStart: (bytes: Uint8Array, count: number) => boolean,
    isWhole: (bytes: Uint8Array) => boolean,
    onMessage: (bytes: Uint8Array) => void,
    onGarbage: () => void,
  ) {
    this.#window = new Uint8Array(size);
    this.#isStart = isStart;
    this.#isWhole = isWhole;
    this.#onMessage = onMessage;
    this.#onGarbage = onGarbage;
  }

  push(bytes: Uint8Array, length: number): void {
    for (let i = 0; i < length; i++) {
      this.#window[this.#count++] = bytes[i]!;
      this.#settle();
    }
  }

  #settle(): void {
    while (this.#count > 0 && !this.#isStart(this.#window, this.#count)) this.#shift();
    if (this.#count < this.#window.length) return;
    if (this.#isWhole(this.#window)) {
      this.#count = 0;
      this.#lost = false;
      this.#onMessage(this.#window);
    } else {
      this.#shift();
      this.#settle();
    }
  }

  #shift(): void {
    this.#window.copyWithin(0, 1, this.#count--);
    if (!this.#lost) this.#onGarbage();
    this.#lost = true;
  }
}

/** Bytes from the adapter in, frames out, however reads are split or joined. Hot path: no allocation. */
export class FromAdapterDecoder {
  readonly #cutter: FixedCutter;
  readonly #frame = emptyFrame();

  constructor(handler: AdapterHandler) {
    const last = FROM_ADAPTER_BYTES - 1;
    this.#cutter = new FixedCutter(
      FROM_ADAPTER_BYTES,
      (bytes) => bytes[0] === FROM_HEAD,
      (bytes) => bytes[last] === FROM_TAIL,
      (bytes) => this.#take(bytes, handler),
      () => handler.onGarbage(),
    );
  }

  push(bytes: Uint8Array, length = bytes.length): void {
    this.#cutter.push(bytes, length);
  }

  #take(bytes: Uint8Array, handler: AdapterHandler): void {
    if (bytes[1] !== RECEIVED) return handler.onOther(bytes[1]!);
    const id = bytes[FROM_ID_AT]! | (bytes[FROM_ID_AT + 1]! << 8);
    if (id > 0x7ff || bytes[FROM_ID_AT + 2] !== 0 || bytes[FROM_ID_AT + 3] !== 0) return handler.onGarbage();
    const frame = this.#frame;
    frame.id = id;
    frame.length = 8;
    for (let i = 0; i < 8; i++) frame.data[i] = bytes[FROM_DATA_AT + i]!;
    handler.onFrame(frame);
  }
}

/** For simulators: bytes from a host in, the frames it sends out. */
export class ToAdapterDecoder {
  readonly #cutter: FixedCutter;
  readonly #frame = emptyFrame();

  constructor(onFrame: (frame: CanFrame) => void, onGarbage: () => void) {
    this.#cutter = new FixedCutter(
      TO_ADAPTER_BYTES,
      (bytes, count) => bytes[0] === TO_HEAD[0] && (count < 2 || bytes[1] === TO_HEAD[1]),
      (bytes) => bytes[2] === TO_HEAD[2] && bytes[LENGTH_AT]! <= 8,
      (bytes) => {
        const frame = this.#frame;
        frame.id = bytes[ID_AT]! | (bytes[ID_AT + 1]! << 8);
        frame.length = bytes[LENGTH_AT]!;
        frame.data.set(bytes.subarray(DATA_AT, DATA_AT + 8));
        onFrame(frame);
      },
      onGarbage,
    );
  }

  push(bytes: Uint8Array, length: number): void {
    this.#cutter.push(bytes, length);
  }
}
