/** Slices that may be in flight: at first, at least and at most; one is about 1.1 kB. */
const FIRST = 32;
const LEAST = 16;
const MOST = 128;
/** A receiver acknowledges every so many slices. */
export const ACKNOWLEDGE_EVERY = 8;
/** Delay that pictures may add to the path's least delay: more means that they queue somewhere. */
const QUEUED_NS = 25e6;
/** Without an acknowledgement for this long, everything in flight is lost. */
const LOST_NS = 400e6;
/** How fast the least delay is forgotten, per acknowledgement. */
const FORGET = 1e-3;
const TIMES = 256;

/**
 * How many slices may be in flight: fewer as soon as they begin to queue, so that nothing that shares the
 * path has to wait. No socket and no clock.
 */
export class CameraWindow {
  readonly #sentNs = new Float64Array(TIMES);
  #size = FIRST;
  #next = 1;
  #acknowledged = 0;
  #receivedNs = 0;
  #leastNs = Number.POSITIVE_INFINITY;
  #shrunkNs = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#size;
  }

  get underway(): number {
    return this.#next - 1 - this.#acknowledged;
  }

  mayRun(nowNs: number): boolean {
    if (this.underway === 0) this.#receivedNs = nowNs;
    else if (nowNs - this.#receivedNs > LOST_NS) {
      this.#acknowledged = this.#next - 1;
      this.#receivedNs = nowNs;
      this.#size = LEAST;
    }
    return this.underway < this.#size;
  }

  /** Number of the next slice, from 1. */
  get nextNumber(): number {
    return this.#next;
  }

  leaves(nowNs: number): void {
    this.#sentNs[this.#next % TIMES] = nowNs;
    this.#next++;
  }

  /** The receiver acknowledged this slice. False: it was never sent. */
  acknowledged(number: number, nowNs: number): boolean {
    if (!Number.isInteger(number) || number < 1 || number >= this.#next) return false;
    if (number <= this.#acknowledged) return true;
    this.#acknowledged = number;
    this.#receivedNs = nowNs;
    const delayNs = nowNs - this.#sentNs[number % TIMES]!;
    if (delayNs < this.#leastNs) this.#leastNs = delayNs;
    else this.#leastNs += (delayNs - this.#leastNs) * FORGET;
    if (delayNs <= this.#leastNs + QUEUED_NS) this.#size = Math.min(MOST, this.#size + 1);
    else if (nowNs - this.#shrunkNs > delayNs) {
      this.#size = Math.max(LEAST, Math.floor(this.#size * 0.7));
      this.#shrunkNs = nowNs;
    }
    return true;
  }
}
