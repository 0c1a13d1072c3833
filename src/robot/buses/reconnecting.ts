/** One connection: a CAN link or a serial port. */
interface Link {
  close(): void;
}

/** Opens a connection, or rejects with a `TeleopError`. It calls `onLost` once when the connection is gone. */
export type OpenLink<L> = (onLost: (why: string) => void) => Promise<L>;

export interface ReconnectingEvents {
  onLost(why: string): void;
  onBack(): void;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 3000;

/**
 * Keeps a connection open: after a loss it opens a new one, with growing pauses between attempts. It repeats nothing;
 * its user decides what may be sent after a loss.
 */
export class Reconnecting<L extends Link> {
  readonly #openLink: OpenLink<L>;
  readonly #events: ReconnectingEvents;
  #link: L | null = null;
  #trouble = 'not open';
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(openLink: OpenLink<L>, events: ReconnectingEvents) {
    this.#openLink = openLink;
    this.#events = events;
  }

  /** Null while the connection is down. Hot path. */
  get link(): L | null {
    return this.#link;
  }

  /** Why the connection is down; empty while it is up. */
  get trouble(): string {
    return this.#trouble;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Rejects if the first attempt fails: only a connection that was open once is opened again. */
  async open(): Promise<void> {
    let opened: L | null = null;
    let lostWhy: string | null = null;
    const link = await this.#openLink((why) => {
      lostWhy = why;
      if (opened !== null && opened === this.#link) this.#lose(why);
    });
    if (this.#closed) link.close();
    else if (lostWhy !== null) throw new Error(lostWhy);
    else {
      opened = link;
      this.#link = link;
      this.#trouble = '';
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#link?.close();
    this.#link = null;
    this.#trouble = 'closed';
  }

  #lose(why: string): void {
    this.#link?.close();
    this.#link = null;
    if (this.#closed) return;
    this.#trouble = why;
    this.#events.onLost(why);
    if (!this.#closed) this.#retryIn(FIRST_RETRY_MS);
  }

  #retryIn(ms: number): void {
    this.#retry = setTimeout(() => {
      this.open().then(
        () => {
          if (!this.#closed) this.#events.onBack();
        },
        () => {
          if (!this.#closed) this.#retryIn(Math.min(LAST_RETRY_MS, ms * 2));
        },
      );
    }, ms);
  }
}
