/** How many connections a server holds. The pools are separate: one cannot fill another. */
export interface ConnectionLimits {
  /** From this machine. */
  local: number;
  /** From verified devices, and from addresses where one was verified before. */
  known: number;
  /** From all other addresses. */
  strangers: number;
  /** From one address without a verified device. */
  perAddress: number;
}

type Pool = 'local' | 'known' | 'strangers';

interface Entry {
  address: string;
  pool: Pool;
  vouched: boolean;
}

/** Addresses with a verified device; the least recently verified is forgotten first. */
const MAX_KNOWN_ADDRESSES = 64;

/**
 * Decides who may stay connected. A newcomer is always accepted: when there is no room, the oldest connection
 * of the address with most is closed, so that a request sent at once is answered however many idle
 * connections others hold. A verified connection stays. No sockets, no clock.
 */
export class ConnectionTable<Connection> {
  readonly #limits: ConnectionLimits;
  readonly #isLocal: (address: string) => boolean;
  /** In order of arrival. */
  readonly #entries = new Map<Connection, Entry>();
  readonly #knownAddresses = new Set<string>();
  /** Connections closed to make room. */
  dropped = 0;

  constructor(limits: ConnectionLimits, isLocal: (address: string) => boolean) {
    this.#limits = limits;
    this.#isLocal = isLocal;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Adds a connection. Returns the one to close, if any: another, or this one. */
  add(connection: Connection, address: string): Connection | null {
    const isKnown = this.#knownAddresses.has(address);
    const pool = this.#isLocal(address) ? 'local' : isKnown ? 'known' : 'strangers';
    this.#entries.set(connection, { address, pool, vouched: false });
    return this.#overflow(connection, pool, address);
  }

  /** The sender was verified. Returns the one to close, as above. */
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
