import type { KeyObject } from 'node:crypto';
import type { Reason } from '../../core/counters.ts';
import { type Aead, createAead, NONCE_BYTES, TAG_BYTES } from './aead.ts';
import { ReplayWindow } from './replay-window.ts';

/** "FH2x", receiver index u32, counter u64, all little-endian; then the sealed frame and its 16-byte tag. */
const HEADER_BYTES = 16;
export const SEAL_BYTES = HEADER_BYTES + TAG_BYTES;
/** Sockets that carry sealed traffic: command, state, sync. A packet for one is not valid on another. */
export const CHANNELS = 3;

const MAGIC = 0x78324846; // "FH2x" read little-endian

export function isSealed(bytes: Uint8Array, length: number): boolean {
  return (
    length >= SEAL_BYTES && bytes[0] === 0x46 && bytes[1] === 0x48 && bytes[2] === 0x32 && bytes[3] === 0x78
  );
}

/** The receiver index of a sealed datagram: selects the keys to try. */
export function sealedIndex(bytes: Uint8Array): number {
  return (bytes[4]! | (bytes[5]! << 8) | (bytes[6]! << 16) | (bytes[7]! << 24)) >>> 0;
}

/** One direction, sending. The counter is the nonce and never repeats under a key. */
export class Sealer {
  readonly #aead: Aead;
  readonly #index: number;
  readonly #counters = new Float64Array(CHANNELS);
  readonly #nonce = new DataView(new ArrayBuffer(NONCE_BYTES));
  readonly #nonceBytes = new Uint8Array(this.#nonce.buffer);

  constructor(key: KeyObject, index: number) {
    this.#aead = createAead(key);
    this.#index = index;
  }

  /** Writes the sealed form of `plain` into `out`; returns its length, 0 when it does not fit. */
  seal(channel: number, plain: Uint8Array, length: number, out: Uint8Array): number {
    if (length + SEAL_BYTES > out.length) return 0;
    const counter = this.#counters[channel]!;
    this.#counters[channel] = counter + 1;
    writeHeader(out, this.#index, counter);
    setNonce(this.#nonce, channel, counter);
    this.#aead.seal(this.#nonceBytes, plain, length, out, HEADER_BYTES);
    return length + SEAL_BYTES;
  }
}

/** One direction, receiving. */
export class Opener {
  /** Set by a successful `open`. */
  length = 0;
  readonly #aead: Aead;
  readonly #windows = Array.from({ length: CHANNELS }, () => new ReplayWindow());
  readonly #nonce = new DataView(new ArrayBuffer(NONCE_BYTES));
  readonly #nonceBytes = new Uint8Array(this.#nonce.buffer);

  constructor(key: KeyObject) {
    this.#aead = createAead(key);
  }

  /** Writes the plain frame to `out` and its size to `length`, or returns a reason and changes nothing. */
  open(channel: number, bytes: Uint8Array, length: number, out: Uint8Array): Reason | null {
    const counter = readCounter(bytes);
    const window = this.#windows[channel]!;
    if (!Number.isSafeInteger(counter) || !window.isFresh(counter)) return 'replayed';
    setNonce(this.#nonce, channel, counter);
    if (!this.#aead.open(this.#nonceBytes, bytes, length, out, HEADER_BYTES)) return 'bad-auth';
    window.mark(counter);
    this.length = length - SEAL_BYTES;
    return null;
  }
}

function writeHeader(out: Uint8Array, index: number, counter: number): void {
  writeWord(out, 0, MAGIC);
  writeWord(out, 4, index);
  writeWord(out, 8, counter);
  writeWord(out, 12, Math.floor(counter / 2 ** 32));
}

/** The low 32 bits, little-endian. */
function writeWord(out: Uint8Array, at: number, value: number): void {
  const word = value >>> 0;
  out[at] = word & 0xff;
  out[at + 1] = (word >>> 8) & 0xff;
  out[at + 2] = (word >>> 16) & 0xff;
  out[at + 3] = word >>> 24;
}

function readCounter(bytes: Uint8Array): number {
  const low = (bytes[8]! | (bytes[9]! << 8) | (bytes[10]! << 16) | (bytes[11]! << 24)) >>> 0;
  const high = (bytes[12]! | (bytes[13]! << 8) | (bytes[14]! << 16) | (bytes[15]! << 24)) >>> 0;
  return high * 2 ** 32 + low;
}

/** As in Noise: four zero bytes, then n in big-endian order; n is the channel in its highest byte, and the counter. */
function setNonce(nonce: DataView, channel: number, counter: number): void {
  nonce.setUint32(4, channel * 2 ** 24 + Math.floor(counter / 2 ** 32));
  nonce.setUint32(8, counter >>> 0);
}
