/** Probes come back four times a second; without one for so long beyond the round trip, something is queueing. */
const BEHIND_NS = 600e6;

/**
 * Whether what is sent to a page piles up on the way. What a send buffer holds cannot be seen from here, but the
 * exchange of clocks shares it with the pictures: while its answers stay away, pictures do too. Time is handed in.
 */
export class PageEcho {
  #newestNs = Number.NEGATIVE_INFINITY;
  #bestNs = Number.POSITIVE_INFINITY;

  /** The page answered to the probe that left at `t0Ns`. */
  answered(t0Ns: number, nowNs: number): void {
    if (!(t0Ns <= nowNs) || t0Ns <= this.#newestNs) return;
    this.#newestNs = t0Ns;
    this.#bestNs = Math.min(this.#bestNs, nowNs - t0Ns);
  }

  isBehind(nowNs: number): boolean {
    return nowNs - this.#newestNs > BEHIND_NS + this.#bestNs;
  }
}
