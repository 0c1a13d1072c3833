/**
 * The boundary of an entry point: whatever comes from outside is handled inside `run`. A handler that throws on it is a
 * bug of ours. It costs the sender its request, is counted and reported, and never ends the process.
 */
export class EntryBoundary {
  /** Requests that ended in an exception. */
  failures = 0;
  readonly #name: string;
  readonly #report: (text: string) => void;

  /** `name`: where it came in, for the report. */
  constructor(name: string, report: (text: string) => void = (text) => console.error(text)) {
    this.#name = name;
    this.#report = report;
  }

  /** `refuse` answers the sender: an error, a closed socket. What `handle` returns may fail later. */
  run(handle: () => unknown, refuse: () => void = () => {}): void {
    try {
      const done = handle();
      if (done instanceof Promise) done.catch((error: unknown) => this.failed(error, refuse));
    } catch (error) {
      this.failed(error, refuse);
    }
  }

  /** Reported at 1, 2, 4, 8 … failures: a sender that repeats itself fills no log. */
  failed(error: unknown, refuse: () => void = () => {}): void {
    this.failures++;
    if ((this.failures & (this.failures - 1)) === 0) {
      const text = error instanceof Error ? (error.stack ?? error.message) : 'not an Error';
      this.#report(`farhand: ${this.#name}: a handler failed (${this.failures} so far): ${text}`);
    }
    try {
      refuse();
    } catch {
      // Its sender is gone.
    }
  }
}
