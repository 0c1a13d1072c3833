import type { FleetLease, FleetRow } from '../../messages/fleet-console.ts';
import type { Presence } from '../messages.ts';
import { SILENT_MS } from '../roster/roster-table.ts';

/** A holder renews its lease every two seconds. */
const LEASE_SHOWN_MS = 7000;
/** How long a robot that is gone is still shown. */
const FORGET_MS = 15 * 60e3;
/** A bound for a fleet whose robots keep changing their names. */
const MOST_ROBOTS = 16_384;
/** Greatest age of the holder that a robot reports: it reports every change at once. */
const REPORT_AGE_MS = 2000;

interface Known {
  presence: Presence;
  receivedMs: number;
  /** Whether the roster watches it: it reports a silent robot itself. */
  isWatched: boolean;
  /** From the lease's own messages; null: none recently. */
  lease: { user: string; token: number; receivedMs: number } | null;
  /** When the end of the lease was received. */
  freedMs: number;
  /** Who is shown as holder, and since when. */
  shown: { user: string; sinceMs: number; token: number | null } | null;
  /** The row as last sent, without ages. */
  sent: string;
}

/**
 * All known robots, and what has changed since the pages were last updated. Plain state: messages and the
 * time are passed in. `pageOf`: which page of this console holds a robot.
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
    if (known !== undefined) Object.assign(known, { presence, receivedMs: nowMs, isWatched: false });
    else if (this.#known.size < MOST_ROBOTS)
      this.#known.set(presence.robot, {
        ...{ presence, receivedMs: nowMs, isWatched: false, lease: null, shown: null, sent: '' },
        freedMs: Number.NEGATIVE_INFINITY,
      });
  }

  /** From the roster, which reports changes only. `goneForMs`: null while the robot is online. */
  listed(presence: Presence, goneForMs: number | null, nowMs: number): void {
    this.received(presence, nowMs);
    const known = this.#known.get(presence.robot);
    if (known === undefined) return;
    known.isWatched = goneForMs === null;
    known.receivedMs = nowMs - (goneForMs ?? 0);
  }

  removed(robot: string): void {
    const known = this.#known.get(robot);
    if (known !== undefined) Object.assign(known, { isWatched: false, receivedMs: Number.NEGATIVE_INFINITY });
  }

  /** The roster is away: what it reported is as old as its last answer. */
  unwatch(nowMs: number): void {
    for (const known of this.#known.values())
      if (known.isWatched) Object.assign(known, { isWatched: false, receivedMs: nowMs });
  }

  /** A lease was taken, renewed or ended (an empty user). True: the holder changed. */
  leaseReceived(robot: string, user: string, token: number, nowMs: number): boolean {
    const known = this.#known.get(robot);
    if (known === undefined || (known.lease !== null && token < known.lease.token)) return false;
    const isNew = user === '' ? known.lease !== null : known.lease?.token !== token;
    known.lease = user === '' ? null : { user, token, receivedMs: nowMs };
    if (user === '') known.freedMs = nowMs;
    if (isNew && known.lease) known.shown = { user, sinceMs: nowMs, token };
    return isNew;
  }

  /** All rows, as of now. */
  rows(nowMs: number): FleetRow[] {
    return this.robots.map((robot) => this.#row(this.#known.get(robot)!, nowMs));
  }

  /** What changed since the last call. */
  changes(nowMs: number): { rows: FleetRow[]; removed: string[] } {
    const rows: FleetRow[] = [];
    const removed: string[] = [];
    for (const [robot, known] of this.#known) {
      if (!known.isWatched && nowMs - known.receivedMs > FORGET_MS) {
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
    const isGone = (!known.isWatched && ageMs > SILENT_MS) || state === 'ended';
    const shownLink = isGone || link === null ? null : rounded(link);
    const lease = this.#lease(known, isGone, nowMs);
    return { robot, model, version, state, cause, lease, link: shownLink, goneForMs: isGone ? ageMs : null };
  }

  /** Where the lease itself is not received (a site keeps its own), the robot's report counts. */
  #lease(known: Known, isGone: boolean, nowMs: number): FleetLease | null {
    const { lease, presence } = known;
    const isReceived = lease !== null && nowMs - lease.receivedMs <= LEASE_SHOWN_MS;
    const isOutdated = isGone || nowMs - known.freedMs < REPORT_AGE_MS;
    const user = isReceived ? lease.user : isOutdated ? null : presence.holder;
    if (user === null) {
      known.shown = null;
      return null;
    }
    if (known.shown?.user !== user) known.shown = { user, sinceMs: nowMs, token: null };
    const { sinceMs, token } = known.shown;
    return { user, token, heldForMs: nowMs - sinceMs, page: this.#pageOf(presence.robot) };
  }
}

/** Unrounded numbers would change every row every second. */
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
