/** How many connections a server holds. The pools are separate: nobody can fill that of another. */
export interface ConnectionLimits {
  /** Of this machine. */
  local: number;
  /** Of devices that proved who they are, and from addresses where one did before. */
  known: number;
  /** Of everybody else. */
  strangers: number;
  /** Of one address that has not proven anything yet. */
  perAddress: number;
}

type Pool = 'local' | 'known' | 'strangers';

interface Entry {
  address: string;
  pool: Pool;
  vouched: boolean;
}

/** Addresses from which a device proved who it is; the one that did so longest ago is forgotten first. */
const MAX_KNOWN_ADDRESSES = 64;

/**
 * Who may stay connected. A newcomer is always let in: when there is no room, the oldest connection of the address that
 * holds most has to go, so that one that sends its request at once gets its answer, however many others hold on to
 * theirs. A connection that was vouched for stays. No sockets, no clock.
 */
export class ConnectionTable<Connection> {
  readonly #limits: ConnectionLimits;
  readonly #isLocal: (address: string) => boolean;
  /** In order of arrival. */
  readonly #entries = new Map<Connection, Entry>();
  readonly #knownAddresses = new Set<string>();
  /** Connections that had to go. */
  dropped = 0;

  constructor(limits: ConnectionLimits, isLocal: (address: string) => boolean) {
    this.#limits = limits;
    this.#isLocal = isLocal;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Takes a connection in. The one to close, if there has to be one: another, or this very one. */
  add(connection: Connection, address: string): Connection | null {
    const isKnown = this.#knownAddresses.has(address);
    const pool = this.#isLocal(address) ? 'local' : isKnown ? 'known' : 'strangers';
    this.#entries.set(connection, { address, pool, vouched: false });
    return this.#overflow(connection, pool, address);
  }

  /** Its sender proved who it is. The one to close, as above. */
  vouch(connection: Connection): Connection | null {
    const entry = this.#entries.get(connection);
    if (entry === undefined || entry.vouched) return null;
    entry.vouched = true;
    if (entry.pool === 'local') return null;
    entry.pool = 'known';
    this.#knownAddresses.delete(entry.address);
    this.#knownAddresses.add(entry.address);
    const [oldest] = this.#knownAddresses;
    if (this.#knownAddresses.size > MAX_KNOWN_ADDRESSES) this.#knownAddresses.delete(oldest!);
    return this.#overflow(connection, 'known', entry.address);
  }

  delete(connection: Connection): void {
    this.#entries.delete(connection);
  }

  #overflow(newest: Connection, pool: Pool, address: string): Connection | null {
    const all = [...this.#entries].filter(([, entry]) => entry.pool === pool);
    const open = all.filter(([, { vouched }]) => !vouched);
    const own = open.filter((one) => one[1].address === address);
    if (pool !== 'local' && own.length > this.#limits.perAddress) return this.#drop(own[0]![0]);
    if (all.length <= this.#limits[pool]) return null;
    return this.#drop(oldestOfMost(open) ?? newest);
  }

  #drop(connection: Connection): Connection {
    this.dropped++;
    this.#entries.delete(connection);
    return connection;
  }
}

function oldestOfMost<Connection>(open: readonly [Connection, Entry][]): Connection | undefined {
  const counts = new Map<string, number>();
  for (const [, { address }] of open) counts.set(address, (counts.get(address) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return open.find(([, { address }]) => counts.get(address) === most)?.[0];
}
