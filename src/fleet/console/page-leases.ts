import { randomBytes } from 'node:crypto';
import { TeleopError } from '../../core/errors.ts';
import { audit } from '../audit.ts';
import type { FleetConnection } from '../connection.ts';
import { HeldLease } from '../held-lease.ts';
import type { LeaseStore } from '../lease-store.ts';
import { holderOf, userOf } from '../messages.ts';

/** A robot's lease held for one page. */
export interface PageLease {
  page: number;
  held: HeldLease;
  holder: string;
  /** Proves the holder's identity to the robot. */
  secret: string;
}

/**
 * The leases of a console's pages: each belongs to one page and is renewed here. Operations on a robot are
 * serialized.
 */
export class PageLeases {
  readonly #connection: FleetConnection;
  readonly #store: LeaseStore;
  /** A lease ended without its page's request. */
  readonly #onOver: (page: number, robot: string, why: string) => void;
  readonly #leases = new Map<string, PageLease>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(
    connection: FleetConnection,
    store: LeaseStore,
    onOver: (page: number, robot: string, why: string) => void,
  ) {
    this.#connection = connection;
    this.#store = store;
    this.#onOver = onOver;
  }

  /** Which page of this console holds it; null: none. */
  pageOf(robot: string): number | null {
    return this.#leases.get(robot)?.page ?? null;
  }

  /**
   * Throws if it has another holder, including another page of this console. `mayHave`: whether the page is
   * open.
   */
  take(page: number, robot: string, mayHave: () => boolean = () => true): Promise<PageLease> {
    return this.#inTurn(robot, () => this.#take(page, robot, mayHave));
  }

  /** Takes it from its holder for this page. */
  takeAway(page: number, robot: string, mayHave: () => boolean): Promise<PageLease> {
    return this.#inTurn(robot, async () => {
      const mine = this.#leases.get(robot);
      if (mine !== undefined && mine.page !== page) {
        await this.#give(robot, mine, { why: 'taken by another page' });
        this.#onOver(mine.page, robot, 'another page of this console took it');
      }
      if (mine === undefined) await this.#removeOthers(robot);
      return this.#take(page, robot, mayHave);
    });
  }

  /** False: the page does not hold it. `to`: the user it is handed over to. */
  release(page: number, robot: string, to?: string): Promise<boolean> {
    return this.#inTurn(robot, async () => {
      const lease = this.#leases.get(robot);
      if (lease?.page !== page) return false;
      await this.#give(robot, lease, to === undefined ? {} : { to });
      return true;
    });
  }

  /** The page has closed: releases all its leases. */
  async leave(page: number): Promise<void> {
    const robots = [...this.#leases].filter(([, lease]) => lease.page === page).map(([robot]) => robot);
    await Promise.all(robots.map((robot) => this.release(page, robot)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#leases].map(([robot, { page }]) => this.release(page, robot)));
  }

  async #take(page: number, robot: string, mayHave: () => boolean): Promise<PageLease> {
    const mine = this.#leases.get(robot);
    if (mine?.page === page) return mine;
    if (mine !== undefined)
      throw new TeleopError('lease-held', `${robot} is driven by another page of this console`, {
        hint: 'Ask for it there, or take it away.',
      });
    const secret = randomBytes(24).toString('base64url');
    const holder = holderOf(this.#connection.user, secret);
    const held = await HeldLease.take(this.#store, robot, holder, () => void this.#lost(robot, holder));
    const lease: PageLease = { page, held, holder, secret };
    this.#leases.set(robot, lease);
    audit(this.#connection, robot, { what: 'lease-taken', revision: held.revision });
    if (!mayHave()) {
      await this.#give(robot, lease, { why: 'its page was closed' });
      throw new TeleopError('lease-held', 'the page was closed', { hint: 'Open it again.' });
    }
    return lease;
  }

  async #removeOthers(robot: string): Promise<void> {
    const entry = await this.#store.takeAway(robot);
    if (entry === null) return;
    const who = userOf(entry.holder);
    const { revision } = entry;
    audit(this.#connection, robot, { what: 'lease-released', who, why: 'taken away', revision });
  }

  /** A renewal in flight increased the token: the entry still exists, without a holder. */
  async #removeOwn(robot: string, holder: string): Promise<boolean> {
    return (await this.#store.takeAway(robot, holder).catch(() => null)) !== null;
  }

  async #give(robot: string, lease: PageLease, { to, why }: { to?: string; why?: string }): Promise<void> {
    this.#leases.delete(robot);
    const { revision } = lease.held;
    if (!(await lease.held.release()) && !(await this.#removeOwn(robot, lease.holder))) return;
    if (to !== undefined) audit(this.#connection, robot, { what: 'handed-over', who: to, revision });
    else
      audit(this.#connection, robot, {
        ...{ what: 'lease-released' as const, revision },
        ...(why === undefined ? {} : { why }),
      });
  }

  async #lost(robot: string, holder: string): Promise<void> {
    const lease = this.#leases.get(robot);
    if (lease?.holder !== holder) return;
    this.#leases.delete(robot);
    const entry = await this.#store.get(robot).catch(() => null);
    const other = entry === null ? null : userOf(entry.holder);
    const why = other === null ? 'its lease expired or was taken away' : `${other} took it away`;
    this.#onOver(lease.page, robot, why);
  }

  #inTurn<T>(robot: string, run: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(robot) ?? Promise.resolve()).then(run, run);
    const settled = turn.catch(() => {});
    this.#turns.set(robot, settled);
    void settled.then(() => {
      if (this.#turns.get(robot) === settled) this.#turns.delete(robot);
    });
    return turn;
  }
}
