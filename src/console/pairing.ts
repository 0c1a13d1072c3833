import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import type { Role } from './devices.ts';

export const CODE_MS = 5 * 60e3;
const MAX_TRIES = 5;
/** Most failed attempts in a minute, from one address and from all together. */
const TRIES_PER_MINUTE = 6;
const ALL_TRIES_PER_MINUTE = 30;
const MINUTE_MS = 60e3;

export interface PairingCode {
  /** Six digits. */
  code: string;
  role: Role;
  expiresMs: number;
}

export type PairingRefusal = 'no-code' | 'wrong-code' | 'rate-limited';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * A six-digit code that admits one device. This machine shows it; it is valid for five minutes and void after
 * its first use or its fifth wrong guess, and addresses that guess too often are rejected: guessing finds one
 * code in 200,000.
 */
export class Pairing {
  #current: PairingCode | null = null;
  #tries = 0;
  #recent: { from: string; atMs: number }[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** A new code; an earlier one is void. */
  issue(role: Role): PairingCode {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    this.#current = { code, role, expiresMs: this.#nowMs() + CODE_MS };
    this.#tries = 0;
    return this.#current;
  }

  /** The code that is valid now. */
  get current(): PairingCode | null {
    if (this.#current !== null && this.#nowMs() >= this.#current.expiresMs) this.#current = null;
    return this.#current;
  }

  /** The role that the code grants, once. `from`: the sender's address. */
  redeem(code: string, from: string): { role: Role } | PairingRefusal {
    const nowMs = this.#nowMs();
    this.#recent = this.#recent.filter(({ atMs }) => nowMs - atMs < MINUTE_MS);
    const own = this.#recent.filter((one) => one.from === from).length;
    if (own >= TRIES_PER_MINUTE || this.#recent.length >= ALL_TRIES_PER_MINUTE) return 'rate-limited';
    const { current } = this;
    if (current !== null && timingSafeEqual(digest(code), digest(current.code))) {
      this.#current = null;
      return { role: current.role };
    }
    this.#recent.push({ from, atMs: nowMs });
    if (current === null) return 'no-code';
    if (++this.#tries >= MAX_TRIES) this.#current = null;
    return 'wrong-code';
  }
}
