import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { LeaseStore } from './lease-store.ts';
import { userOf } from './messages.ts';
import { LEASE_RENEW_MS, LEASE_TTL_MS } from './subjects.ts';

const CHECK_MS = 50;
/** Without an answer to a renewal by then, the entry is read instead. */
const ANSWER_MS = 1000;

/** A robot's lease, renewed until it is released or lost. */
export class HeldLease {
  readonly #store: LeaseStore;
  readonly #robot: string;
  readonly #keeper: LeaseKeeper;
  readonly #onLost: () => void;
  readonly #timer: NodeJS.Timeout;
  #busy = false;
  #over = false;
  /** When the oldest unanswered renewal was sent. */
  #openNs = Number.NaN;

  private constructor(store: LeaseStore, robot: string, keeper: LeaseKeeper, onLost: () => void) {
    this.#store = store;
    this.#robot = robot;
    this.#keeper = keeper;
    this.#onLost = onLost;
    this.#timer = setInterval(() => this.#tick(), CHECK_MS);
  }

  /** Throws if another holder has it. */
  static async take(
    store: LeaseStore,
    robot: string,
    holder: string,
    onLost: () => void,
  ): Promise<HeldLease> {
    const keeper = new LeaseKeeper(holder, { ttlNs: LEASE_TTL_MS * 1e6, renewNs: LEASE_RENEW_MS * 1e6 });
    const askedNs = monotonicClock.nowNs();
    const revision = await store.create(robot, holder);
    if (revision === null) {
      const other = await store.get(robot);
      throw new TeleopError(
        'lease-held',
        `${robot} is driven by ${other ? userOf(other.holder) : 'another operator'}`,
        {
          hint: `Ask them to stop, or revoke their lease: \`farhand fleet release ${robot}\`.`,
        },
      );
    }
    keeper.granted(askedNs, revision);
    return new HeldLease(store, robot, keeper, onLost);
  }

  get revision(): number {
    return this.#keeper.revision;
  }

  /** False: it was no longer held, or the store did not answer. */
  async release(): Promise<boolean> {
    this.#over = true;
    clearInterval(this.#timer);
    if (this.#keeper.isLost) return false;
    return timely(this.#store.release(this.#robot, this.#keeper.revision)).then(
      () => true,
      () => false,
    );
  }

  #tick(): void {
    const nowNs = monotonicClock.nowNs();
    if (!this.#keeper.isHeld(nowNs)) {
      clearInterval(this.#timer);
      if (!this.#over) this.#onLost();
      this.#over = true;
    } else if (!this.#busy && this.#keeper.renewDue(nowNs)) void this.#renew(nowNs);
  }

  async #renew(askedNs: number): Promise<void> {
    this.#busy = true;
    try {
      const { holder, revision } = this.#keeper;
      const renewed = await timely(this.#store.renew(this.#robot, holder, revision));
      if (this.#over) return;
      if (renewed !== null) {
        this.#keeper.granted(askedNs, renewed);
        this.#openNs = Number.NaN;
      } else await this.#reconcile();
    } catch {
      // The broker is unreachable; it may have accepted the renewal anyway.
      if (Number.isNaN(this.#openNs)) this.#openNs = askedNs;
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Rejected: another holder has it, or the answer to an accepted renewal was lost. The entry shows which.
   */
  async #reconcile(): Promise<void> {
    const entry = await timely(this.#store.get(this.#robot));
    if (this.#over) return;
    const { holder, revision } = this.#keeper;
    if (entry?.holder === holder && entry.revision > revision && !Number.isNaN(this.#openNs)) {
      this.#keeper.granted(this.#openNs, entry.revision);
      this.#openNs = Number.NaN;
    } else this.#keeper.refused();
  }
}

async function timely<T>(asking: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), ANSWER_MS);
  });
  asking.catch(() => {});
  return Promise.race([asking, late]).finally(() => clearTimeout(timer));
}
