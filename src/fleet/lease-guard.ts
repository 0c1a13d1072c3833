/** A lease in the store. `revision` only increases: through renewal, expiry and takeover. */
export interface LeaseEntry {
  holder: string;
  revision: number;
}

/** Why a command is rejected. */
export type LeaseRefusal = 'no-lease' | 'lease-expired' | 'not-holder' | 'old-token';

export interface LeaseTimes {
  /** How long the robot continues after the last proof of the lease. */
  graceNs: number;
  /** How often it reads the lease. */
  pollNs: number;
}

/**
 * The robot's own decision on who may command it. It trusts only answers to its own requests: an answer
 * proves that the entry was in the store at some instant after the request was sent, however long anything
 * took to arrive. An unsolicited message may end a lease, never begin or prolong one. Plain state; all times
 * are on one monotonic clock.
 */
export class LeaseGuard {
  readonly #times: LeaseTimes;
  #holder = '';
  #revision = 0;
  /** First seen revision of the current holder's lease. */
  #sinceRevision = 0;
  #provenNs = Number.NEGATIVE_INFINITY;
  #askedNs = Number.NEGATIVE_INFINITY;
  /** Highest ever seen: anything older stays void. */
  #highest = 0;

  constructor(times: LeaseTimes) {
    this.#times = times;
  }

  get holder(): string {
    return this.#holder;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Until when the current lease is valid without further proof. */
  get deadlineNs(): number {
    return this.#holder === '' ? Number.NEGATIVE_INFINITY : this.#provenNs + this.#times.graceNs;
  }

  /** True when it is time to read the store; the caller does so and passes the answer to `answered`. */
  poll(nowNs: number): boolean {
    if (nowNs - this.#askedNs < this.#times.pollNs) return false;
    this.#askedNs = nowNs;
    return true;
  }

  /** The lease may have changed: read it at the next `poll`. */
  askSoon(): void {
    this.#askedNs = Number.NEGATIVE_INFINITY;
  }

  /** The store's answer to a request sent at `askedNs`; null: there is no lease. */
  answered(askedNs: number, entry: LeaseEntry | null): void {
    if (entry === null) {
      if (askedNs >= this.#provenNs) this.#end();
      return;
    }
    if (entry.revision < this.#highest) return;
    this.#highest = entry.revision;
    if (entry.holder !== this.#holder) {
      this.#provenNs = Number.NEGATIVE_INFINITY;
      this.#sinceRevision = entry.revision;
    }
    this.#holder = entry.holder;
    this.#revision = entry.revision;
    this.#provenNs = Math.max(this.#provenNs, askedNs);
  }

  /**
   * An unsolicited message, perhaps late: a newer entry of another holder, or a removal, ends the current
   * lease.
   */
  received(entry: LeaseEntry | null, revision: number): void {
    if (revision <= this.#highest) return;
    this.#highest = revision;
    this.askSoon();
    if (entry?.holder === this.#holder) this.#revision = revision;
    else this.#end();
  }

  /** Why this holder may not command now; null: it may. `revision`: the newest it knows of its own lease. */
  refusal(holder: string, revision: number, nowNs: number): LeaseRefusal | null {
    if (this.#holder === '') return 'no-lease';
    if (holder !== this.#holder) return 'not-holder';
    if (nowNs >= this.deadlineNs) return 'lease-expired';
    // A holder that lost its lease and got another has a higher token; anything it sent before is void.
    return revision < this.#sinceRevision ? 'old-token' : null;
  }

  #end(): void {
    this.#holder = '';
    this.#revision = 0;
    this.#provenNs = Number.NEGATIVE_INFINITY;
  }
}
