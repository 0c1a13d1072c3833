import { TeleopError } from '../../core/errors.ts';
import { HeldLease } from '../leases/held-lease.ts';
import type { LeaseClient } from '../leases/lease-client.ts';

/** A robot's lease held for one page. */
export interface PageLease {
  page: number;
  held: HeldLease;
}

/**
 * The leases of a console's pages: each belongs to one page and is renewed here. Operations on a robot are
 * serialized.
 */
export class PageLeases {
  readonly #client: LeaseClient;
  /** A lease ended without its page's request. */
  readonly #onOver: (page: number, robot: string, why: string) => void;
  readonly #leases = new Map<string, PageLease>();
  /** Pages that lost a robot's lease and have not asked for it since, by robot. */
  readonly #lostBy = new Map<string, Set<number>>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(client: LeaseClient, onOver: (page: number, robot: string, why: string) => void) {
    this.#client = client;
    this.#onOver = onOver;
  }

  /** The lease that this page holds; null: it does not. */
  heldBy(page: number, robot: string): HeldLease | null {
    const lease = this.#leases.get(robot);
    return lease?.page === page ? lease.held : null;
  }

  /** The lease service announced a change. */
  announced(robot: string, token: number): void {
    this.#leases.get(robot)?.held.announced(token);
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

  /** Like `take`, but not after this page lost the lease: only its user may take it back. */
  takeUnlessLost(page: number, robot: string, mayHave: () => boolean): Promise<PageLease> {
    return this.#inTurn(robot, () => {
      if (this.#lostBy.get(robot)?.has(page))
        throw new TeleopError('lease-held', 'its lease was taken away', {
          hint: 'Connect again to take it back.',
        });
      return this.#take(page, robot, mayHave);
    });
  }

  /** Takes it from its holder for this page. */
  takeAway(page: number, robot: string, mayHave: () => boolean): Promise<PageLease> {
    return this.#inTurn(robot, async () => {
      const mine = this.#leases.get(robot);
      if (mine !== undefined && mine.page !== page) {
        await this.#give(robot, mine);
        this.#onOver(mine.page, robot, 'another page of this console took it');
      }
      if (mine === undefined) await this.#client.takeAway(robot);
      return this.#take(page, robot, mayHave);
    });
  }

  /** False: the page does not hold it. `to`: the user it is handed over to. */
  release(page: number, robot: string, to?: string): Promise<boolean> {
    return this.#inTurn(robot, async () => {
      const lease = this.#leases.get(robot);
      if (lease?.page !== page) return false;
      await this.#give(robot, lease, to);
      return true;
    });
  }

  /** The page has closed: releases all its leases. */
  async leave(page: number): Promise<void> {
    for (const robot of this.#lostBy.keys()) this.#forgive(page, robot);
    const robots = [...this.#leases].filter(([, lease]) => lease.page === page).map(([robot]) => robot);
    await Promise.all(robots.map((robot) => this.release(page, robot)));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#leases].map(([robot, { page }]) => this.release(page, robot)));
  }

  async #take(page: number, robot: string, mayHave: () => boolean): Promise<PageLease> {
    this.#forgive(page, robot);
    const mine = this.#leases.get(robot);
    if (mine?.page === page) return mine;
    if (mine !== undefined)
      throw new TeleopError('lease-held', `${robot} is driven by another page of this console`, {
        hint: 'Ask for it there, or take it away.',
      });
    const held = await HeldLease.take(this.#client, robot, { lost: () => void this.#lost(robot, held) });
    const lease: PageLease = { page, held };
    this.#leases.set(robot, lease);
    if (!mayHave()) {
      await this.#give(robot, lease);
      throw new TeleopError('lease-held', 'the page was closed', { hint: 'Open it again.' });
    }
    return lease;
  }

  async #give(robot: string, lease: PageLease, to?: string): Promise<void> {
    this.#leases.delete(robot);
    await lease.held.release(to);
  }

  async #lost(robot: string, held: HeldLease): Promise<void> {
    const lease = this.#leases.get(robot);
    if (lease?.held !== held) return;
    this.#leases.delete(robot);
    this.#lostBy.set(robot, (this.#lostBy.get(robot) ?? new Set()).add(lease.page));
    const other = await this.#client.look(robot).catch(() => null);
    const why = other === null ? 'its lease was taken away' : `${other.user} took it away`;
    this.#onOver(lease.page, robot, why);
  }

  #forgive(page: number, robot: string): void {
    const pages = this.#lostBy.get(robot);
    if (pages?.delete(page) && pages.size === 0) this.#lostBy.delete(robot);
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
