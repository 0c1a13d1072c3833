import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { createRequire } from 'node:module';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';

export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/** AES-256-GCM for one direction under one key. Additional data is the packet's header. Hot path. */
export interface Aead {
  /** Writes ciphertext and tag after the `headerBytes` already in `out`. */
  seal(nonce: Uint8Array, plain: Uint8Array, length: number, out: Uint8Array, headerBytes: number): void;
  /** Writes the plain text to `out`; false when the packet is not authentic. */
  open(nonce: Uint8Array, packet: Uint8Array, length: number, out: Uint8Array, headerBytes: number): boolean;
}

/**
 * The same OpenSSL by two routes. `node:crypto` allocates objects for each packet; calling the library
 * directly with a kept context allocates none.
 */
export function createAead(key: KeyObject): Aead {
  return evp === null ? new NodeAead(key) : new EvpAead(key, evp);
}

const CIPHER = 'aes-256-gcm';
const OPTIONS = { authTagLength: TAG_BYTES };

export class NodeAead implements Aead {
  readonly #key: KeyObject;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  seal(nonce: Uint8Array, plain: Uint8Array, length: number, out: Uint8Array, headerBytes: number): void {
    const cipher = createCipheriv(CIPHER, this.#key, nonce, OPTIONS);
    cipher.setAAD(out.subarray(0, headerBytes));
    out.set(cipher.update(plain.subarray(0, length)), headerBytes);
    cipher.final();
    out.set(cipher.getAuthTag(), headerBytes + length);
  }

  open(nonce: Uint8Array, packet: Uint8Array, length: number, out: Uint8Array, headerBytes: number): boolean {
    const end = length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, OPTIONS);
    decipher.setAAD(packet.subarray(0, headerBytes));
    decipher.setAuthTag(packet.subarray(end, length));
    const plain = decipher.update(packet.subarray(headerBytes, end));
    try {
      decipher.final();
    } catch {
      return false;
    }
    out.set(plain);
    return true;
  }
}

type Context = unknown;
type Memory = Uint8Array | null;

/** OpenSSL's EVP calls, as exported by the running Node or by the library it is linked to. */
export interface Evp {
  newContext(): Context;
  freeContext(context: Context): void;
  cipher(): unknown;
  /** 1 encrypts, 0 decrypts, −1 keeps. */
  init(context: Context, cipher: unknown, engine: null, key: Memory, nonce: Memory, encrypt: number): number;
  update(context: Context, out: Memory, size: Memory, data: Memory, length: number): number;
  final(context: Context, out: Memory, size: Memory): number;
  control(context: Context, what: number, size: number, data: Memory): number;
}

const GET_TAG = 0x10;
const SET_TAG = 0x11;
const freed = new FinalizationRegistry<() => void>((free) => free());

export class EvpAead implements Aead {
  readonly #evp: Evp;
  readonly #sealing: Context;
  readonly #opening: Context;
  readonly #size = new Uint8Array(4);
  readonly #header = new Uint8Array(64);
  readonly #tag = new Uint8Array(TAG_BYTES);
  readonly #in = new Uint8Array(MAX_DATAGRAM_BYTES);
  readonly #out = new Uint8Array(MAX_DATAGRAM_BYTES + TAG_BYTES);

  constructor(key: KeyObject, calls: Evp) {
    this.#evp = calls;
    const raw = new Uint8Array(key.export());
    const context = (encrypt: number): Context => {
      const made = calls.newContext();
      if (calls.init(made, calls.cipher(), null, raw, new Uint8Array(NONCE_BYTES), encrypt) !== 1)
        throw new Error('OpenSSL rejected AES-256-GCM');
      freed.register(this, () => calls.freeContext(made));
      return made;
    };
    this.#sealing = context(1);
    this.#opening = context(0);
    raw.fill(0);
  }

  seal(nonce: Uint8Array, plain: Uint8Array, length: number, out: Uint8Array, headerBytes: number): void {
    const { init, update, final, control } = this.#evp;
    const context = this.#sealing;
    copyBytes(out, 0, this.#header, 0, headerBytes);
    copyBytes(plain, 0, this.#in, 0, length);
    init(context, null, null, null, nonce, -1);
    update(context, null, this.#size, this.#header, headerBytes);
    update(context, this.#out, this.#size, this.#in, length);
    if (final(context, this.#out, this.#size) !== 1) throw new Error('OpenSSL failed to seal');
    control(context, GET_TAG, TAG_BYTES, this.#tag);
    // `final` of this mode writes nothing, so the ciphertext is complete.
    copyBytes(this.#out, 0, out, headerBytes, length);
    out.set(this.#tag, headerBytes + length);
  }

  open(nonce: Uint8Array, packet: Uint8Array, length: number, out: Uint8Array, headerBytes: number): boolean {
    const { init, update, final, control } = this.#evp;
    const context = this.#opening;
    const size = length - headerBytes - TAG_BYTES;
    copyBytes(packet, 0, this.#header, 0, headerBytes);
    copyBytes(packet, headerBytes, this.#in, 0, size);
    copyBytes(packet, length - TAG_BYTES, this.#tag, 0, TAG_BYTES);
    init(context, null, null, null, nonce, -1);
    update(context, null, this.#size, this.#header, headerBytes);
    update(context, this.#out, this.#size, this.#in, size);
    control(context, SET_TAG, TAG_BYTES, this.#tag);
    if (final(context, this.#tag, this.#size) !== 1) return false;
    copyBytes(this.#out, 0, out, 0, size);
    return true;
  }
}

/** Unlike `subarray`, allocates nothing. */
function copyBytes(from: Uint8Array, at: number, to: Uint8Array, toAt: number, count: number): void {
  for (let i = 0; i < count; i++) to[toAt + i] = from[at + i]!;
}

/** Null where FFI or the symbols are missing, or where the result differs from `node:crypto`. */
export function loadEvp(): Evp | null {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const library = koffi.load(null);
    const calls: Evp = {
      newContext: library.func('void *EVP_CIPHER_CTX_new()'),
      freeContext: library.func('void EVP_CIPHER_CTX_free(void *)'),
      cipher: library.func('void *EVP_aes_256_gcm()'),
      init: library.func('int EVP_CipherInit_ex(void *, void *, void *, void *, void *, int)'),
      update: library.func('int EVP_CipherUpdate(void *, void *, void *, void *, int)'),
      final: library.func('int EVP_CipherFinal_ex(void *, void *, void *)'),
      control: library.func('int EVP_CIPHER_CTX_ctrl(void *, int, int, void *)'),
    };
    return agrees(calls) ? calls : null;
  } catch {
    return null;
  }
}

/** Checks one packet in each direction against `node:crypto` before trusting the library. */
function agrees(calls: Evp): boolean {
  const key = createSecretKey(new Uint8Array(32).fill(3));
  const nonce = new Uint8Array(NONCE_BYTES).fill(5);
  const plain = new Uint8Array(100).fill(9);
  const [direct, node] = [new EvpAead(key, calls), new NodeAead(key)];
  const [a, b, back] = [new Uint8Array(132), new Uint8Array(132), new Uint8Array(132)];
  direct.seal(nonce, plain, plain.length, a, 16);
  node.seal(nonce, plain, plain.length, b, 16);
  return Buffer.compare(a, b) === 0 && direct.open(nonce, b, b.length, back, 16) && back[99] === 9;
}

const evp = loadEvp();
