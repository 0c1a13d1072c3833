/** A holder that is silent for this long loses control. */
export const SILENT_MS = 3000;

/**
 * Which client is in control: one at a time. While control is free, the first client that acts gets it; it is
 * taken from another only on an explicit request; it ends with a release or a silence. The caller passes the
 * time in.
 */
export class Lease<Client> {
  #holder: Client | null = null;
  #receivedMs = 0;
  #term = 0;

  get holder(): Client | null {
    return this.#holder;
  }

  /** Increases with every change of holder: poses from different terms are never related. */
  get term(): number {
    return this.#term;
  }

  received(client: Client, nowMs: number): void {
    if (client === this.#holder) this.#receivedMs = nowMs;
  }

  /** True when the client is now in control. `takeOver`: take it from another client. */
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

  /** Ends the term of a silent holder; true if it did. */
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
