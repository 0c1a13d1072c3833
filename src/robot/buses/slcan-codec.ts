import { type CanFrame, codeOfLength, emptyFrame, isValidFrame, lengthOfCode } from './can-frame.ts';

/** LAWICEL's ASCII protocol: one command per line, upper-case hex, CR ends a line, BEL reports an error. */
const CR = 0x0d;
const BEL = 0x07;
/** `B` + 8 id + 1 length + 128 data + 4 time characters + CR. */
export const MAX_LINE_BYTES = 143;

/** `S` codes. 7 is 800 k by LAWICEL and 750 k with CANable and python-can, so it is not offered. */
export const BITRATE_CODES: Readonly<Record<number, number>> = {
  10000: 0,
  20000: 1,
  50000: 2,
  100000: 3,
  125000: 4,
  250000: 5,
  500000: 6,
  1000000: 8,
};

const DIGITS = Uint8Array.from('0123456789ABCDEF', (digit) => digit.charCodeAt(0));
const VALUES = new Int8Array(256).fill(-1);
for (let i = 0; i < 16; i++) {
  VALUES[DIGITS[i]!] = i;
  VALUES[DIGITS[i]! | 0x20] = i;
}

const code = (letter: string): number => letter.charCodeAt(0);
const [STD, EXT, STD_REMOTE, EXT_REMOTE] = [code('t'), code('T'), code('r'), code('R')];
const [STD_FD, EXT_FD, STD_FAST, EXT_FAST] = [code('d'), code('D'), code('b'), code('B')];

function letterOf({ extended, remote, fd, bitRateSwitch }: CanFrame): number {
  if (fd && bitRateSwitch) return extended ? EXT_FAST : STD_FAST;
  if (fd) return extended ? EXT_FD : STD_FD;
  if (remote) return extended ? EXT_REMOTE : STD_REMOTE;
  return extended ? EXT : STD;
}

/** Hot path. Writes a frame's line at `at` and returns its end; −1 if the frame is invalid. */
export function encodeSlcan(frame: CanFrame, out: Uint8Array, at: number): number {
  if (!isValidFrame(frame)) return -1;
  let end = at;
  out[end++] = letterOf(frame);
  for (let shift = frame.extended ? 28 : 8; shift >= 0; shift -= 4)
    out[end++] = DIGITS[(frame.id >>> shift) & 15]!;
  out[end++] = DIGITS[codeOfLength(frame.length)]!;
  if (!frame.remote)
    for (let i = 0; i < frame.length; i++) {
      out[end++] = DIGITS[frame.data[i]! >> 4]!;
      out[end++] = DIGITS[frame.data[i]! & 15]!;
    }
  out[end++] = CR;
  return end;
}

export interface SlcanHandler {
  /** Reused after the call. `stampMs`: the adapter's milliseconds modulo 60,000; −1 if it sends none. */
  onFrame(frame: CanFrame, stampMs: number): void;
  /** Any other line, without its CR: a reply (empty, `z`, `Z`, `V…`) or, on the adapter side, a command. */
  onLine(line: Uint8Array): void;
  /** BEL: the adapter rejected something. */
  onRejected(): void;
  /** Not a line: too long, or with invalid bytes. */
  onGarbage(): void;
}

/** Bytes in, frames and replies out, however reads are split or joined. Recovers at the next CR or BEL. */
export class SlcanDecoder {
  readonly #line = new Uint8Array(MAX_LINE_BYTES);
  readonly #frame = emptyFrame();
  readonly #handler: SlcanHandler;
  #length = 0;
  #garbage = false;

  constructor(handler: SlcanHandler) {
    this.#handler = handler;
  }

  /** Hot path: allocates only for lines that are not frames. */
  push(bytes: Uint8Array, length = bytes.length): void {
    for (let i = 0; i < length; i++) {
      const byte = bytes[i]!;
      if (byte === CR) this.#endLine();
      else if (byte === BEL) {
        if (this.#garbage || this.#length > 0) this.#handler.onGarbage();
        this.#restart();
        this.#handler.onRejected();
      } else if (byte < 0x20 || byte > 0x7e || this.#length === MAX_LINE_BYTES) this.#garbage = true;
      else this.#line[this.#length++] = byte;
    }
  }

  #restart(): void {
    this.#length = 0;
    this.#garbage = false;
  }

  #endLine(): void {
    const length = this.#length;
    const garbage = this.#garbage;
    this.#restart();
    if (garbage) this.#handler.onGarbage();
    else if (length > 1 && isFrameLetter(this.#line[0]!)) {
      const stampMs = this.#decode(length);
      if (stampMs === BAD) this.#handler.onGarbage();
      else this.#handler.onFrame(this.#frame, stampMs);
    } else this.#handler.onLine(this.#line.slice(0, length));
  }

  /** The timestamp; −1 without one, BAD if the line is not a frame. */
  #decode(length: number): number {
    const frame = this.#frame;
    const letter = this.#line[0]!;
    frame.extended = letter === EXT || letter === EXT_REMOTE || letter === EXT_FD || letter === EXT_FAST;
    frame.remote = letter === STD_REMOTE || letter === EXT_REMOTE;
    frame.bitRateSwitch = letter === STD_FAST || letter === EXT_FAST;
    frame.fd = frame.bitRateSwitch || letter === STD_FD || letter === EXT_FD;
    const idDigits = frame.extended ? 8 : 3;
    if (length < idDigits + 2) return BAD;
    frame.id = this.#hex(1, idDigits);
    const lengthCode = VALUES[this.#line[1 + idDigits]!]!;
    frame.length = lengthCode < 0 ? -1 : lengthOfCode(lengthCode);
    if (frame.id < 0 || !isValidFrame(frame)) return BAD;
    let at = idDigits + 2;
    const dataBytes = frame.remote ? 0 : frame.length;
    const left = length - at - 2 * dataBytes;
    if (left !== 0 && left !== 4) return BAD;
    for (let i = 0; i < dataBytes; i++, at += 2) {
      const byte = this.#hex(at, 2);
      if (byte < 0) return BAD;
      frame.data[i] = byte;
    }
    if (left === 0) return -1;
    const stampMs = this.#hex(at, 4);
    return stampMs < 0 ? BAD : stampMs;
  }

  #hex(at: number, digits: number): number {
    let value = 0;
    for (let i = 0; i < digits; i++) {
      const digit = VALUES[this.#line[at + i]!]!;
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }
}

const BAD = -2;

const isFrameLetter = (letter: number): boolean =>
  letter === STD ||
  letter === EXT ||
  letter === STD_REMOTE ||
  letter === EXT_REMOTE ||
  letter === STD_FD ||
  letter === EXT_FD ||
  letter === STD_FAST ||
  letter === EXT_FAST;
