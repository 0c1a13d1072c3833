/** What the console answers per second at most, and at once after a pause. One costs about a millisecond. */
const HANDSHAKES_PER_S = 100;
const BURST = 50;

/** A connection that waits for its TLS handshake. */
export interface Waiting {
  /** Closed while it waited. */
  destroyed: boolean;
}

/**
 * Spreads TLS handshakes, the most expensive work a stranger can cause, over time. Addresses take turns, so
 * one that floods delays itself only.
 */
export class HandshakeQueue<T extends Waiting> {
  readonly #start: (connection: T) => void;
  /** By address; the first is next. */
  readonly #waiting = new Map<string, T[]>();
  #credit = BURST;
  #creditMs = Number.NaN;

  constructor(start: (connection: T) => void) {
    this.#start = start;
  }

  add(connection: T, address: string): void {
    const waiting = this.#waiting.get(address);
    if (waiting === undefined) this.#waiting.set(address, [connection]);
    else waiting.push(connection);
  }

  /** Starts those whose turn has come. Returns the milliseconds until the next one; null: none waits. */
  run(nowMs: number): number | null {
    const passedMs = Number.isNaN(this.#creditMs) ? 0 : nowMs - this.#creditMs;
    this.#credit = Math.min(BURST, this.#credit + (passedMs * HANDSHAKES_PER_S) / 1000);
    this.#creditMs = nowMs;
    for (const [address, waiting] of this.#waiting) {
      if (this.#credit < 1) return ((1 - this.#credit) * 1000) / HANDSHAKES_PER_S;
      this.#waiting.delete(address);
      const next = nextOpen(waiting);
      // Moves to the end: the loop visits it again after all other addresses.
      if (waiting.length > 0) this.#waiting.set(address, waiting);
      if (next === null) continue;
      this.#credit--;
      this.#start(next);
    }
    return null;
  }
}

function nextOpen<T extends Waiting>(waiting: T[]): T | null {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    if (!next.destroyed) return next;
  return null;
}
