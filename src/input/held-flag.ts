/** How long a flag must be set in every message: one corrupted message requests nothing. */
const HELD_NS = 500e6;

/** Counts how often a flag was held for half a second. It must be released before it counts again. */
export class HeldFlag {
  #sinceNs = Number.NaN;
  #isCounted = false;
  presses = 0;

  /** Hot path. */
  take(isSet: boolean, nowNs: number): void {
    if (!isSet) return this.release();
    if (Number.isNaN(this.#sinceNs)) this.#sinceNs = nowNs;
    if (this.#isCounted || nowNs - this.#sinceNs < HELD_NS) return;
    this.#isCounted = true;
    this.presses++;
  }

  release(): void {
    this.#sinceNs = Number.NaN;
    this.#isCounted = false;
  }
}
