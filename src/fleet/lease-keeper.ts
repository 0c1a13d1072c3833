export interface KeeperTimes {
  /** When the store drops an entry that was not renewed. */
  ttlNs: number;
  renewNs: number;
}

/** The operator's side of a lease: when to renew it, and until when it is valid. Plain state, no clock. */
export class LeaseKeeper {
  readonly holder: string;
  readonly #times: KeeperTimes;
  #revision = 0;
  #untilNs = Number.NEGATIVE_INFINITY;
  #triedNs = Number.NEGATIVE_INFINITY;
  #lost = false;

  /** `holder` is unique to this acquisition: a later one by the same user is another holder. */
  constructor(holder: string, times: KeeperTimes) {
    this.holder = holder;
    this.#times = times;
  }

  /** The fencing token: sent with everything that needs the lease. */
  get revision(): number {
    return this.#revision;
  }

  /** Another holder has it, or it expired: it must never be used again. */
  get isLost(): boolean {
    return this.#lost;
  }

  isHeld(nowNs: number): boolean {
    if (!this.#lost && this.#revision > 0 && nowNs >= this.#untilNs) this.#lost = true;
    return !this.#lost && this.#revision > 0;
  }

  /** True when a request to the store is due: to create an entry while `revision` is 0, else to update it. */
  renewDue(nowNs: number): boolean {
    if (this.#lost || nowNs - this.#triedNs < this.#times.renewNs) return false;
    this.#triedNs = nowNs;
    return true;
  }

  /**
   * The store accepted the request sent at `askedNs`: the entry lives at least for its lifetime from then on.
   */
  granted(askedNs: number, revision: number): void {
    if (this.#lost || revision <= this.#revision) return;
    this.#revision = revision;
    this.#untilNs = askedNs + this.#times.ttlNs;
  }

  /** The store rejected a renewal: the entry is no longer ours. A rejected creation may be tried again. */
  refused(): void {
    if (this.#revision > 0) this.#lost = true;
  }
}
