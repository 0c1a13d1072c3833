import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { NONCE_BYTES, TAG_BYTES } from './aead.ts';

/**
 * The Noise Protocol Framework, revision 34, one pattern:
 *   NNpsk0:  → psk, e    ← e, ee
 * Byte for byte; names are those of the specification. Tested against the cacophony vectors in noise.test.ts.
 */
export const PROTOCOL = 'Noise_NNpsk0_25519_AESGCM_SHA256';
export const DH_BYTES = 32;
const HASH_BYTES = 32;

export interface KeyPair {
  privateKey: KeyObject;
  publicBytes: Buffer;
}

/** One key per direction: `Split()`. */
export interface NoiseKeys {
  toResponder: Buffer;
  toInitiator: Buffer;
}

/** DER headers of X25519 keys; the raw key follows. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

const publicBytesOf = (key: KeyObject): Buffer =>
  key.export({ type: 'spki', format: 'der' }).subarray(-DH_BYTES);

export function newKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return { privateKey, publicBytes: publicBytesOf(publicKey) };
}

/** From 32 private bytes, for vectors. */
export function keyPairOf(raw: Uint8Array): KeyPair {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, raw]),
    format: 'der',
    type: 'pkcs8',
  });
  return { privateKey, publicBytes: publicBytesOf(createPublicKey(privateKey)) };
}

/** Null when the peer's point is degenerate. */
function dh(own: KeyPair, peer: Uint8Array): Buffer | null {
  try {
    const key = Buffer.concat([SPKI_PREFIX, peer]);
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
    return diffieHellman({ privateKey: own.privateKey, publicKey });
  } catch {
    return null;
  }
}

const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Noise's HKDF(ck, ikm, n) is RFC 5869 with ck as salt and no info: extract, then n blocks of expand. */
function hkdf(chainingKey: Uint8Array, inputKey: Uint8Array, outputs: 2 | 3): Buffer[] {
  const bytes = Buffer.from(hkdfSync('sha256', inputKey, chainingKey, '', outputs * HASH_BYTES));
  return Array.from({ length: outputs }, (_, i) => bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES));
}

const NO_BYTES = Buffer.alloc(0);

/** Symmetric and cipher state of the specification. Before the first key of this pattern nothing is encrypted. */
export class SymmetricState {
  #h: Buffer;
  #ck: Buffer;
  #k: Buffer = NO_BYTES;
  #n = 0;

  private constructor(h: Buffer, ck: Buffer) {
    this.#h = h;
    this.#ck = ck;
  }

  /** Up to and including the `psk` token, which both sides process alike. */
  static start(prologue: Uint8Array, psk: Uint8Array): SymmetricState {
    // The name has 32 characters, HASHLEN: h is the name itself, unhashed.
    const name = Buffer.from(PROTOCOL);
    const state = new SymmetricState(name, name);
    state.mixHash(prologue);
    state.#mixKeyAndHash(psk);
    return state;
  }

  clone(): SymmetricState {
    const copy = new SymmetricState(this.#h, this.#ck);
    copy.#k = this.#k;
    copy.#n = this.#n;
    return copy;
  }

  get handshakeHash(): Buffer {
    return this.#h;
  }

  mixHash(data: Uint8Array): void {
    this.#h = sha256(this.#h, data);
  }

  mixKey(inputKey: Uint8Array): void {
    [this.#ck, this.#k] = hkdf(this.#ck, inputKey, 2) as [Buffer, Buffer];
    this.#n = 0;
  }

  #mixKeyAndHash(inputKey: Uint8Array): void {
    const [ck, h, k] = hkdf(this.#ck, inputKey, 3) as [Buffer, Buffer, Buffer];
    this.#ck = ck;
    this.mixHash(h);
    this.#k = k;
    this.#n = 0;
  }

  encryptAndHash(plain: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#k, nonceOf(this.#n++), { authTagLength: TAG_BYTES });
    cipher.setAAD(this.#h);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    this.mixHash(sealed);
    return sealed;
  }

  /** Null, with no state changed, when it is not authentic. */
  decryptAndHash(sealed: Uint8Array): Buffer | null {
    const end = sealed.length - TAG_BYTES;
    if (end < 0) return null;
    const decipher = createDecipheriv('aes-256-gcm', this.#k, nonceOf(this.#n), { authTagLength: TAG_BYTES });
    decipher.setAAD(this.#h);
    decipher.setAuthTag(sealed.subarray(end));
    const plain = decipher.update(sealed.subarray(0, end));
    try {
      decipher.final();
    } catch {
      return null;
    }
    this.#n++;
    this.mixHash(sealed);
    return plain;
  }

  split(): NoiseKeys {
    const [toResponder, toInitiator] = hkdf(this.#ck, NO_BYTES, 2) as [Buffer, Buffer];
    return { toResponder, toInitiator };
  }
}

function nonceOf(n: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeBigUInt64BE(BigInt(n), 4);
  return nonce;
}

/** `e` in a pattern with a psk: the public key enters both the hash and the key. */
function mixEphemeral(state: SymmetricState, publicBytes: Uint8Array): void {
  state.mixHash(publicBytes);
  state.mixKey(publicBytes);
}

/** Initiator, → psk, e. */
export function writeFirst(state: SymmetricState, own: KeyPair, payload: Uint8Array): Buffer {
  mixEphemeral(state, own.publicBytes);
  return Buffer.concat([own.publicBytes, state.encryptAndHash(payload)]);
}

/** Responder, → psk, e. No key agreement yet: a few hashes and one decryption. Null when it is not authentic. */
export function readFirst(state: SymmetricState, message: Uint8Array): Buffer | null {
  if (message.length < DH_BYTES + TAG_BYTES) return null;
  mixEphemeral(state, message.subarray(0, DH_BYTES));
  return state.decryptAndHash(message.subarray(DH_BYTES));
}

/** Responder, ← e, ee. Null when the initiator's key is degenerate. */
export function writeSecond(
  state: SymmetricState,
  own: KeyPair,
  peer: Uint8Array,
  payload: Uint8Array,
): Buffer | null {
  const shared = dh(own, peer);
  if (shared === null) return null;
  mixEphemeral(state, own.publicBytes);
  state.mixKey(shared);
  return Buffer.concat([own.publicBytes, state.encryptAndHash(payload)]);
}

/** Initiator, ← e, ee. Null when it is not authentic; the state is then as it was. */
export function readSecond(
  state: SymmetricState,
  own: KeyPair,
  message: Uint8Array,
): { state: SymmetricState; payload: Buffer } | null {
  if (message.length < DH_BYTES + TAG_BYTES) return null;
  const peer = message.subarray(0, DH_BYTES);
  const shared = dh(own, peer);
  if (shared === null) return null;
  const next = state.clone();
  mixEphemeral(next, peer);
  next.mixKey(shared);
  const payload = next.decryptAndHash(message.subarray(DH_BYTES));
  return payload === null ? null : { state: next, payload };
}
