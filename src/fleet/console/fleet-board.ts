import type { FleetLease, FleetRow } from '../../messages/fleet-console.ts';
import type { Presence } from '../messages.ts';
import { LEASE_TTL_MS } from '../subjects.ts';

/** A robot tells once a second that it is there. */
export const SILENT_MS = 3000;
/** One that is gone is shown for so long. */
const FORGET_MS = 15 * 60e3;
/** Of a fleet whose robots change their names all the time, say. */
const MOST_ROBOTS = 4096;
/** A robot's word of who drives it is that old at most: it asks every 0.4 s and tells every second. */
const HEARSAY_MS = 2000;

interface Known {
  presence: Presence;
  receivedMs: number;
  /** From the lease's own news; null: nothing was heard of it lately. */
  lease: { user: string; holder: string; receivedMs: number } | null;
  /** When the lease's end was heard. */
  freedMs: number;
  /** Who is shown as holder, since when. */
  shown: { user: string; sinceMs: number; token: number | null } | null;
  /** What the last changes looked like, without ages. */
  sent: string;
}

/**
 * All robots that were heard of, and what of it is new for pages. Plain state: messages and the time are handed in.
 * `pageOf`: which page of this console holds a robot.
 */
export class FleetBoard {
  readonly #known = new Map<string, Known>();
  readonly #pageOf: (robot: string) => number | null;

  constructor(pageOf: (robot: string) => number | null) {
    this.#pageOf = pageOf;
  }

  get robots(): string[] {
    return [...this.#known.keys()].sort();
  }

  received(presence: Presence, nowMs: number): void {
    const known = this.#known.get(presence.robot);
    if (known !== undefined) Object.assign(known, { presence, receivedMs: nowMs });
    else if (this.#known.size < MOST_ROBOTS)
      this.#known.set(presence.robot, {
        ...{ presence, receivedMs: nowMs, lease: null, shown: null, sent: '' },
        freedMs: Number.NEGATIVE_INFINITY,
      });
  }

  /** A renewal of a lease, or its end. True: the holder is another one, whose token is not known, or there is none. */
  leaseReceived(robot: string, holder: string | null, nowMs: number): boolean {
    const known = this.#known.get(robot);
    if (known === undefined) return false;
    const isNew = holder !== (known.lease?.holder ?? null);
    known.lease = holder === null ? null : { user: holder.split('.')[0]!, holder, receivedMs: nowMs };
    if (holder === null) known.freedMs = nowMs;
    if (isNew && known.lease) known.shown = { user: known.lease.user, sinceMs: nowMs, token: null };
    return isNew;
  }

  tokenIs(robot: string, holder: string, token: number): void {
    const known = this.#known.get(robot);
    if (known?.lease?.holder === holder && known.shown) known.shown.token = token;
  }

  /** Everything, as of now. */
  rows(nowMs: number): FleetRow[] {
    return this.robots.map((robot) => this.#row(this.#known.get(robot)!, nowMs));
  }

  /** What changed since the last call. */
  changes(nowMs: number): { rows: FleetRow[]; removed: string[] } {
    const rows: FleetRow[] = [];
    const removed: string[] = [];
    for (const [robot, known] of this.#known) {
      if (nowMs - known.receivedMs > FORGET_MS) {
        this.#known.delete(robot);
        removed.push(robot);
        continue;
      }
      const row = this.#row(known, nowMs);
      const { goneForMs, lease, ...rest } = row;
      const sent = JSON.stringify([rest, goneForMs !== null, lease && { ...lease, heldForMs: 0 }]);
      if (sent !== known.sent) rows.push(row);
      known.sent = sent;
    }
    return { rows, removed };
  }

  #row(known: Known, nowMs: number): FleetRow {
    const { robot, model, version, state, cause, link } = known.presence;
    const ageMs = nowMs - known.receivedMs;
    const isGone = ageMs > SILENT_MS || state === 'ended';
    const shownLink = isGone || link === null ? null : rounded(link);
    const lease = this.#lease(known, isGone, nowMs);
    return { robot, model, version, state, cause, lease, link: shownLink, goneForMs: isGone ? ageMs : null };
  }

  /** Where the lease itself is out of hearing (a site keeps its own), the robot's word counts. */
  #lease(known: Known, isGone: boolean, nowMs: number): FleetLease | null {
    const { lease, presence } = known;
    const isReceived = lease !== null && nowMs - lease.receivedMs <= LEASE_TTL_MS;
    const isSecondHand = isGone || nowMs - known.freedMs < HEARSAY_MS;
    const user = isReceived ? lease.user : isSecondHand ? null : presence.holder;
    if (user === null) {
      known.shown = null;
      return null;
    }
    if (known.shown?.user !== user) known.shown = { user, sinceMs: nowMs, token: null };
    const { sinceMs, token } = known.shown;
    return { user, token, heldForMs: nowMs - sinceMs, page: this.#pageOf(presence.robot) };
  }
}

/** Numbers that nobody reads to the last digit would make every row new every second. */
function rounded(link: NonNullable<Presence['link']>): NonNullable<FleetRow['link']> {
  const round = (value: number | null, step: number) =>
    value === null ? null : Math.round(value / step) * step;
  return {
    rttMs: round(link.rttMs, 1),
    fromOperatorHz: round(link.fromOperatorHz, 5),
    toOperatorHz: round(link.toOperatorHz, 5),
    client: link.client ?? 'operator',
  };
}
