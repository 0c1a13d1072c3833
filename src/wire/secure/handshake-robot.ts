import { createHmac, randomBytes } from 'node:crypto';
import type { Reason } from '../../core/counters.ts';
import type { Peer } from '../reactor.ts';
import { COOKIE_LIFE_NS, CookieJar } from './cookie.ts';
import {
  ACCEPT,
  COOKIE,
  INDEX_BYTES,
  INIT,
  isEqual,
  KEY_ID_BYTES,
  KNOCK,
  mac,
  newDatagram,
  type Paired,
  paired,
  type SessionKeys,
  sessionKeys,
  startNoise,
} from './handshake.ts';
import { DH_BYTES, type KeyPair, newKeyPair, readFirst, type SymmetricState, writeSecond } from './noise.ts';
import { LETTER } from './tags.ts';

export interface Accepted {
  keys: SessionKeys;
  reply: Buffer;
}

/** An init that is authentic, fresh and not seen before. */
export interface NewInit {
  accepted: null;
  key: Paired;
  state: SymmetricState;
  e: Buffer;
}

/** An init of the first seal, by its fields: the id of the key, the operator's ephemeral key, and a mac of that. */
const FIRST_INIT = /^FH1i\{"key":"([0-9a-f]{16})","e":"([\w+/]{43}=)","mac":"([\w+/]{43}=)"\}$/;
const FIRST_INIT_BYTES = 134;

/** Only paired operators reach this limit, by restarting many times a second. */
const MAX_RECENT = 64;

/**
 * The robot's half of the handshake. A sender without the key gets no answer and costs a few hashes; a replay
 * gets a cookie, sent to the address it came from.
 */
export class HandshakeAcceptor {
  readonly #keys: readonly Paired[];
  readonly #newKeyPair: () => KeyPair;
  readonly #cookies = new CookieJar(randomBytes(32));
  /** Accepts by the operator's ephemeral key, kept while its cookie may be fresh. */
  readonly #recent = new Map<string, Accepted & { atNs: number }>();

  constructor(psks: readonly Uint8Array[], newPair: () => KeyPair = newKeyPair) {
    this.#keys = psks.map(paired);
    this.#newKeyPair = newPair;
  }

  /** The answer to a knock, of any version. */
  answerKnock(bytes: Uint8Array, length: number, from: Peer, nowNs: number): Buffer | Reason {
    if (length !== KNOCK.bytes) return 'malformed';
    const key = this.#keyOf(bytes, KNOCK.keyId);
    if (key === null) return 'unknown-key';
    if (!isEqual(bytes.subarray(KNOCK.mac, length), mac(key, bytes.subarray(0, KNOCK.mac))))
      return 'bad-auth';
    const reply = newDatagram(LETTER.cookie, COOKIE.bytes);
    reply.set(bytes.subarray(KNOCK.nonce, KNOCK.nonce + COOKIE.cookie - COOKIE.nonce), COOKIE.nonce);
    this.#cookies.make(from, nowNs).copy(reply, COOKIE.cookie);
    mac(key, reply.subarray(0, COOKIE.mac)).copy(reply, COOKIE.mac);
    return reply;
  }

  /**
   * Reads an init without keeping state. A forged one costs one hash, a replayed one three; an exact repeat
   * gets the same answer as before.
   */
  readInit(
    bytes: Uint8Array,
    length: number,
    from: Peer,
    nowNs: number,
  ): NewInit | { accepted: Accepted } | Reason {
    if (length !== INIT.bytes) return 'malformed';
    const key = this.#keyOf(bytes, INIT.keyId);
    if (key === null) return 'unknown-key';
    if (!isEqual(bytes.subarray(INIT.mac, length), mac(key, bytes.subarray(0, INIT.mac)))) return 'bad-auth';
    const cookie = bytes.subarray(INIT.cookie, INIT.noise);
    if (!this.#cookies.isFresh(cookie, from, nowNs)) return 'replayed';
    const e = Buffer.from(bytes.subarray(INIT.noise, INIT.noise + DH_BYTES));
    const accepted = this.#recent.get(e.toString('hex'));
    if (accepted !== undefined) return { accepted };
    const state = startNoise(key, cookie);
    const payload = readFirst(state, bytes.subarray(INIT.noise, INIT.mac));
    return payload === null ? 'bad-auth' : { accepted: null, key, state, e };
  }

  /** Agrees on keys. `index` must not be in use. */
  accept({ key, state, e }: NewInit, index: number, nowNs: number): Accepted | Reason {
    for (const [id, { atNs }] of this.#recent) if (nowNs - atNs > COOKIE_LIFE_NS) this.#recent.delete(id);
    if (this.#recent.size >= MAX_RECENT) return 'rate-limited';
    const payload = Buffer.alloc(INDEX_BYTES);
    payload.writeUInt32LE(index);
    const second = writeSecond(state, this.#newKeyPair(), e, payload);
    if (second === null) return 'malformed';
    const reply = newDatagram(LETTER.accept, ACCEPT.bytes);
    second.copy(reply, ACCEPT.noise);
    mac(key, reply.subarray(0, ACCEPT.mac), e).copy(reply, ACCEPT.mac);
    const accepted = { keys: sessionKeys(state.split(), index), reply, atNs: nowNs };
    this.#recent.set(e.toString('hex'), accepted);
    return accepted;
  }

  /** Whether this is an authentic init of the first seal, from a paired operator of an older release. */
  isFirstInit(bytes: Uint8Array, length: number): boolean {
    if (length !== FIRST_INIT_BYTES) return false;
    const fields = FIRST_INIT.exec(Buffer.from(bytes.subarray(0, length)).toString('latin1'));
    const key = this.#keys.find(({ id }) => id.toString('hex') === fields?.[1]);
    if (key === undefined) return false;
    const hmac = createHmac('sha256', key.psk).update('init').update(Buffer.from(fields![2]!, 'base64'));
    return isEqual(hmac.digest(), Buffer.from(fields![3]!, 'base64'));
  }

  #keyOf(bytes: Uint8Array, at: number): Paired | null {
    const id = bytes.subarray(at, at + KEY_ID_BYTES);
    return this.#keys.find((key) => key.id.equals(id)) ?? null;
  }
}
