/** Ends what a test or a rig has started: the newest first, even when set-up throws half-way. */
export class Lifetime {
  readonly #ends: (() => unknown)[] = [];

  /** Takes ownership of something just started. */
  own<T>(thing: T, end: (thing: T) => unknown): T {
    this.#ends.push(() => end(thing));
    return thing;
  }

  /** Runs a set-up. If it throws, everything owned ends before the error is rethrown. */
  async setUp<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.end().catch(() => {});
      throw error;
    }
  }

  /** Tries every end, then throws the first failure. Idempotent. */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop())
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}
