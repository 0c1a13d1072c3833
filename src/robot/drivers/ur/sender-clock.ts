/**
 * Places a sender's own stamps on our clock: the smallest delay seen tells the offset, and it may grow slowly because
 * two clocks drift. What arrives late or in a bunch so keeps the instant at which it was true.
 */
export class SenderClock {
  #offsetNs = Number.POSITIVE_INFINITY;
  #lastNs = Number.NEGATIVE_INFINITY;

  restart(): void {
    this.#offsetNs = Number.POSITIVE_INFINITY;
  }

  /** The instant of a message on our clock: never in the future, never before the one before. */
  place(senderNs: number, receivedNs: number): number {
    const offsetNs = receivedNs - senderNs;
    const grown = this.#offsetNs + MAX_DRIFT_NS_PER_MESSAGE;
    // A leap of the sender's clock begins anew.
    this.#offsetNs = Math.abs(offsetNs - grown) > MAX_LEAP_NS ? offsetNs : Math.min(offsetNs, grown);
    this.#lastNs = Math.max(this.#lastNs, Math.min(receivedNs, senderNs + this.#offsetNs));
    return this.#lastNs;
  }
}

/** 100 ppm at 100 messages per second. */
const MAX_DRIFT_NS_PER_MESSAGE = 1000;
const MAX_LEAP_NS = 1e9;
