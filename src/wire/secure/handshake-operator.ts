import { randomBytes } from 'node:crypto';
import type { Reason } from '../../core/counters.ts';
import {
  ACCEPT,
  COOKIE,
  INDEX_BYTES,
  INIT,
  isEqual,
  KNOCK,
  mac,
  NONCE_BYTES,
  newDatagram,
  type Paired,
  paired,
  type SessionKeys,
  sessionKeys,
  startNoise,
} from './handshake.ts';
import { type KeyPair, newKeyPair, readSecond, type SymmetricState, writeFirst } from './noise.ts';
import { LETTER, SEAL_VERSION, sealVersion } from './tags.ts';

/** Knocks that may still be answered: the last two seconds. */
const MAX_OPEN_KNOCKS = 8;

interface Offer {
  cookie: Buffer;
  own: KeyPair;
  state: SymmetricState;
  init: Buffer;
}

/** The operator's half of the handshake, from the first knock to the keys. */
export class HandshakeOffer {
  readonly #key: Paired;
  readonly #newKeyPair: () => KeyPair;
  readonly #nonces: Buffer[] = [];
  #offer: Offer | null = null;

  constructor(psk: Uint8Array, newPair: () => KeyPair = newKeyPair) {
    this.#key = paired(psk);
    this.#newKeyPair = newPair;
  }

  /** The next knock; each has its own nonce, which one answer uses up. */
  knock(nonce: Buffer = randomBytes(NONCE_BYTES)): Buffer {
    this.#nonces.push(nonce);
    if (this.#nonces.length > MAX_OPEN_KNOCKS) this.#nonces.shift();
    const out = newDatagram(LETTER.knock, KNOCK.bytes);
    this.#key.id.copy(out, KNOCK.keyId);
    nonce.copy(out, KNOCK.nonce);
    mac(this.#key, out.subarray(0, KNOCK.mac)).copy(out, KNOCK.mac);
    return out;
  }

  /** Repeat until accepted; null before there is a cookie. */
  get init(): Buffer | null {
    return this.#offer?.init ?? null;
  }

  /** Takes the robot's answer to one of our knocks; `init` then carries the newest cookie. */
  onCookie(bytes: Uint8Array, length: number): Reason | null {
    if (length !== COOKIE.bytes) return 'malformed';
    const nonce = bytes.subarray(COOKIE.nonce, COOKIE.cookie);
    const at = this.#nonces.findIndex((own) => own.equals(nonce));
    if (at < 0) return 'replayed';
    const given = bytes.subarray(COOKIE.mac, length);
    if (!isEqual(given, mac(this.#key, bytes.subarray(0, COOKIE.mac)))) return 'bad-auth';
    // Answers to earlier knocks are obsolete now.
    this.#nonces.splice(0, at + 1);
    if (sealVersion(bytes, length) !== SEAL_VERSION) return 'other-version';
    const cookie = Buffer.from(bytes.subarray(COOKIE.cookie, COOKIE.mac));
    if (this.#offer === null || !this.#offer.cookie.equals(cookie)) this.#offer = this.#make(cookie);
    return null;
  }

  #make(cookie: Buffer): Offer {
    const own = this.#newKeyPair();
    const state = startNoise(this.#key, cookie);
    const init = newDatagram(LETTER.init, INIT.bytes);
    this.#key.id.copy(init, INIT.keyId);
    cookie.copy(init, INIT.cookie);
    writeFirst(state, own, Buffer.alloc(0)).copy(init, INIT.noise);
    mac(this.#key, init.subarray(0, INIT.mac)).copy(init, INIT.mac);
    return { cookie, own, state, init };
  }

  /** The keys, when this is the robot's answer to this offer. */
  accept(bytes: Uint8Array, length: number): SessionKeys | null {
    const offer = this.#offer;
    if (offer === null || length !== ACCEPT.bytes) return null;
    const given = bytes.subarray(ACCEPT.mac, length);
    if (!isEqual(given, mac(this.#key, bytes.subarray(0, ACCEPT.mac), offer.own.publicBytes))) return null;
    const read = readSecond(offer.state, offer.own, bytes.subarray(ACCEPT.noise, ACCEPT.mac));
    if (read === null || read.payload.length !== INDEX_BYTES) return null;
    return sessionKeys(read.state.split(), read.payload.readUInt32LE());
  }
}
