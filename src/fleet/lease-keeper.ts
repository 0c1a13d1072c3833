export interface KeeperTimes {
  /** After which the store forgets an entry that was not renewed. */
  ttlNs: number;
  renewNs: number;
}

/** The operator's side of a lease: when to renew it, and until when it may be relied on. Plain state, no clock. */
export class LeaseKeeper {
  readonly holder: string;
  readonly #times: KeeperTimes;
  #revision = 0;
  #untilNs = Number.NEGATIVE_INFINITY;
  #triedNs = Number.NEGATIVE_INFINITY;
  #lost = false;

  /** `holder` is unique to this acquisition: a later one by the same person is another holder. */
  constructor(holder: string, times: KeeperTimes) {
    this.holder = holder;
    this.#times = times;
  }

  /** The fencing token: sent with everything that needs the lease. */
  get revision(): number {
    return this.#revision;
  }

  /** Somebody else has it, or it ran out: never to be used again. */
  get isLost(): boolean {
    return this.#lost;
  }

  isHeld(nowNs: number): boolean {
    if (!this.#lost && this.#revision > 0 && nowNs >= this.#untilNs) this.#lost = true;
    return !this.#lost && this.#revision > 0;
  }

  /** True when the store should be asked (anew): to create an entry while `revision` is 0, else to update it. */
  renewDue(nowNs: number): boolean {
    if (this.#lost || nowNs - this.#triedNs < this.#times.renewNs) return false;
    this.#triedNs = nowNs;
    return true;
  }

  /** The store took what was asked at `askedNs`: the entry lives for its time from then on, at least. */
  granted(askedNs: number, revision: number): void {
    if (this.#lost || revision <= this.#revision) return;
    this.#revision = revision;
    this.#untilNs = askedNs + this.#times.ttlNs;
  }

  /** The store refused a renewal: the entry is not ours any more. A refused creation may be tried again. */
  refused(): void {
    if (this.#revision > 0) this.#lost = true;
  }
}
