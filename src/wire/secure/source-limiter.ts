import type { Peer } from '../reactor.ts';

const SLOTS = 256;
const WINDOW_NS = 100e6;
const MAX_FAILURES = 200;

/**
 * How much bad input one source may cost: beyond 200 failures in 100 ms its datagrams are dropped unread until the
 * window ends. A fixed table; sources that share a slot displace each other, which only resets a count.
 */
export class SourceLimiter {
  readonly #peers = new Float64Array(SLOTS);
  readonly #sinceNs = new Float64Array(SLOTS);
  readonly #failures = new Int32Array(SLOTS);

  isBlocked(peer: Peer, nowNs: number): boolean {
    const slot = slotOf(peer);
    return (
      this.#peers[slot] === peer &&
      this.#failures[slot]! > MAX_FAILURES &&
      nowNs - this.#sinceNs[slot]! < WINDOW_NS
    );
  }

  fail(peer: Peer, nowNs: number): void {
    const slot = slotOf(peer);
    if (this.#peers[slot] !== peer || nowNs - this.#sinceNs[slot]! >= WINDOW_NS) {
      this.#peers[slot] = peer;
      this.#sinceNs[slot] = nowNs;
      this.#failures[slot] = 0;
    }
    this.#failures[slot] = this.#failures[slot]! + 1;
  }
}

const slotOf = (peer: Peer): number => (peer % 65521) % SLOTS;
