/** A holder that says nothing for so long has lost control. */
export const SILENT_MS = 3000;

/**
 * Who is in control: one client at a time. Whoever acts first gets it while it is free; it is taken from another only
 * on an explicit wish; it ends with a goodbye or a silence. Time is handed in.
 */
export class Lease<Client> {
  #holder: Client | null = null;
  #receivedMs = 0;
  #term = 0;

  get holder(): Client | null {
    return this.#holder;
  }

  /** Grows with every change of the holder: poses of two terms are never related. */
  get term(): number {
    return this.#term;
  }

  received(client: Client, nowMs: number): void {
    if (client === this.#holder) this.#receivedMs = nowMs;
  }

  /** True when the client is in control now. `takeOver`: also when another one was. */
  claim(client: Client, nowMs: number, takeOver = false): boolean {
    this.expire(nowMs);
    if (this.#holder !== null && this.#holder !== client && !takeOver) return false;
    if (this.#holder !== client) this.#pass(client);
    this.#receivedMs = nowMs;
    return true;
  }

  release(client: Client): void {
    if (client === this.#holder) this.#pass(null);
  }

  /** Ends the term of a silent holder; true when it did. */
  expire(nowMs: number): boolean {
    if (this.#holder === null || nowMs - this.#receivedMs < SILENT_MS) return false;
    this.#pass(null);
    return true;
  }

  #pass(to: Client | null): void {
    this.#holder = to;
    this.#term++;
  }
}
