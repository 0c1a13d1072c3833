import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Peer } from '../reactor.ts';

export const COOKIE_BYTES = 16;
const PERIOD_NS = 5e9;
/** A cookie is valid for the period it was made in and the one after: 5 to 10 s. */
export const COOKIE_LIFE_NS = 2 * PERIOD_NS;

/**
 * Proves that its bearer recently received what was sent to that address. Stateless: each cookie is a keyed
 * hash of address and period, under a secret that lives as long as the process.
 */
export class CookieJar {
  readonly #secret: Uint8Array;
  readonly #input = new DataView(new ArrayBuffer(16));

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  make(peer: Peer, nowNs: number): Buffer {
    return this.#of(peer, Math.floor(nowNs / PERIOD_NS));
  }

  isFresh(cookie: Uint8Array, peer: Peer, nowNs: number): boolean {
    if (cookie.length !== COOKIE_BYTES) return false;
    const period = Math.floor(nowNs / PERIOD_NS);
    return (
      timingSafeEqual(cookie, this.#of(peer, period)) || timingSafeEqual(cookie, this.#of(peer, period - 1))
    );
  }

  #of(peer: Peer, period: number): Buffer {
    this.#input.setFloat64(0, peer);
    this.#input.setFloat64(8, period);
    const bytes = new Uint8Array(this.#input.buffer);
    return createHmac('sha256', this.#secret).update(bytes).digest().subarray(0, COOKIE_BYTES);
  }
}
