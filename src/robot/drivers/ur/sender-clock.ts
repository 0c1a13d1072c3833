/**
 * Maps a sender's stamps onto our clock: the smallest delay seen gives the offset, which may grow slowly
 * because the clocks drift. Late or bunched messages thus keep the time they were measured.
 */
export class SenderClock {
  #offsetNs = Number.POSITIVE_INFINITY;
  #lastNs = Number.NEGATIVE_INFINITY;

  restart(): void {
    this.#offsetNs = Number.POSITIVE_INFINITY;
  }

  /** A message's time on our clock: never in the future, never before the previous one. */
  place(senderNs: number, receivedNs: number): number {
    const offsetNs = receivedNs - senderNs;
    const grown = this.#offsetNs + MAX_DRIFT_NS_PER_MESSAGE;
    // Restart after a jump of the sender's clock.
    this.#offsetNs = Math.abs(offsetNs - grown) > MAX_LEAP_NS ? offsetNs : Math.min(offsetNs, grown);
    this.#lastNs = Math.max(this.#lastNs, Math.min(receivedNs, senderNs + this.#offsetNs));
    return this.#lastNs;
  }
}

/** 100 ppm at 100 messages per second. */
const MAX_DRIFT_NS_PER_MESSAGE = 1000;
const MAX_LEAP_NS = 1e9;
