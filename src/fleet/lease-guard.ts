/** A lease as the store has it. `revision` only ever grows, through renewal, expiry and takeover. */
export interface LeaseEntry {
  holder: string;
  revision: number;
}

/** Why a command is not let through; null: it is. */
export type LeaseRefusal = 'no-lease' | 'lease-expired' | 'not-holder' | 'old-token';

export interface LeaseTimes {
  /** How long the robot goes on after it last knew the lease alive. */
  graceNs: number;
  /** How often it asks. */
  pollNs: number;
}

/**
 * The robot's own judgement of who may command it. It believes only answers to its own questions: an answer proves that
 * the entry was in the store at some instant after the question left, however long anything took to arrive. News that
 * come unasked may end a lease, never begin or prolong one. Plain state; times are of one monotonic clock.
 */
export class LeaseGuard {
  readonly #times: LeaseTimes;
  #holder = '';
  #revision = 0;
  /** First revision of the present holder's lease that was seen. */
  #sinceRevision = 0;
  #provenNs = Number.NEGATIVE_INFINITY;
  #askedNs = Number.NEGATIVE_INFINITY;
  /** Highest ever seen: what is older is void for good. */
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

  /** Until when the present lease counts without further proof. */
  get deadlineNs(): number {
    return this.#holder === '' ? Number.NEGATIVE_INFINITY : this.#provenNs + this.#times.graceNs;
  }

  /** True when it is time to ask the store; the caller asks and hands the answer to `answered`. */
  poll(nowNs: number): boolean {
    if (nowNs - this.#askedNs < this.#times.pollNs) return false;
    this.#askedNs = nowNs;
    return true;
  }

  /** Somebody claims a lease that is not known yet: ask now. */
  askSoon(): void {
    this.#askedNs = Number.NEGATIVE_INFINITY;
  }

  /** The store's answer to a question that left at `askedNs`; null: there is no lease. */
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

  /** News that came unasked, perhaps late: a newer entry of somebody else, or a removal, ends what stands. */
  received(entry: LeaseEntry | null, revision: number): void {
    if (revision <= this.#highest) return;
    this.#highest = revision;
    this.askSoon();
    if (entry?.holder === this.#holder) this.#revision = revision;
    else this.#end();
  }

  /** May this holder command now? `revision`: the newest it knows of its own lease. */
  refusal(holder: string, revision: number, nowNs: number): LeaseRefusal | null {
    if (this.#holder === '') return 'no-lease';
    if (holder !== this.#holder) return 'not-holder';
    if (nowNs >= this.deadlineNs) return 'lease-expired';
    // A holder that lost its lease and got another one has a higher token; what it sent before is void.
    return revision < this.#sinceRevision ? 'old-token' : null;
  }

  #end(): void {
    this.#holder = '';
    this.#revision = 0;
    this.#provenNs = Number.NEGATIVE_INFINITY;
  }
}
