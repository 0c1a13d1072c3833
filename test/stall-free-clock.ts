import { type Clock, monotonicClock } from '../src/core/time/clock.ts';

const MOST_NS = 20e6;

/**
 * Real time without the stalls of this process: between two looks at most 20 ms pass. For a driver and its simulated
 * device in one process, which a busy machine keeps waiting together: neither has missed the other meanwhile.
 */
export class StallFreeClock implements Clock {
  #nowNs = monotonicClock.nowNs();
  #realNs = this.#nowNs;

  nowNs(): number {
    const realNs = monotonicClock.nowNs();
    this.#nowNs += Math.min(MOST_NS, realNs - this.#realNs);
    this.#realNs = realNs;
    return this.#nowNs;
  }
}
