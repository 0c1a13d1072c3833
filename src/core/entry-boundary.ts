/**
 * The boundary of an entry point: all outside input is handled inside `run`. A handler that throws on it is
 * our bug. It costs the sender its request, is counted and reported, and never ends the process.
 */
export class EntryBoundary {
  /** Requests that ended in an exception. */
  failures = 0;
  readonly #name: string;
  readonly #report: (text: string) => void;

  /** `name`: the entry point, for the report. */
  constructor(name: string, report: (text: string) => void = (text) => console.error(text)) {
    this.#name = name;
    this.#report = report;
  }

  /**
   * `reject` answers the sender: an error, a closed socket. A promise that `handle` returns may reject later.
   */
  run(handle: () => unknown, reject: () => void = () => {}): void {
    try {
      const done = handle();
      if (done instanceof Promise) done.catch((error: unknown) => this.failed(error, reject));
    } catch (error) {
      this.failed(error, reject);
    }
  }

  /** Reported at 1, 2, 4, 8 … failures, so that a repeating sender does not fill the log. */
  failed(error: unknown, reject: () => void = () => {}): void {
    this.failures++;
    if ((this.failures & (this.failures - 1)) === 0) {
      const text = error instanceof Error ? (error.stack ?? error.message) : 'not an Error';
      this.#report(`farhand: ${this.#name}: a handler failed (${this.failures} so far): ${text}`);
    }
    try {
      reject();
    } catch {
      // The sender is gone.
    }
  }
}
