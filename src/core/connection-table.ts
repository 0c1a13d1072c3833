/** How many connections a server holds. The pools are separate: one cannot fill another. */
export interface ConnectionLimits {
  /** From this machine. */
  local: number;
  /** From verified devices, and from addresses where one was verified before. Viewers get at most half of them. */
  known: number;
  /** From all other addresses. */
  strangers: number;
  /** From one address without a verified device, and from one verified device. */
  perAddress: number;
}

/** A verified device. */
export interface KnownDevice {
  id: string;
  /** Viewers make room for operators, never the reverse. */
  isOperator: boolean;
}

type Pool = 'local' | 'known' | 'strangers';

interface Entry {
  address: string;
  pool: Pool;
  /** Null: not verified. */
  device: KnownDevice | null;
}

/** Verified devices that are remembered, and addresses of each; the least recently verified is forgotten first. */
const MAX_KNOWN_DEVICES = 64;
const MAX_ADDRESSES_PER_DEVICE = 4;

/**
 * Decides who may stay connected. When there is no room, the oldest unverified connection of the address with most is
 * closed, so that a request sent at once is answered however many idle connections others hold. If there is none, the
 * oldest connection of the viewer with most is closed. No sockets, no clock.
 */
export class ConnectionTable<Connection> {
  readonly #limits: ConnectionLimits;
  readonly #isLocal: (address: string) => boolean;
  /** In order of arrival. */
  readonly #entries = new Map<Connection, Entry>();
  /** By device, so that one device with many addresses cannot displace those of another. */
  readonly #knownAddresses = new Map<string, Set<string>>();
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
    const isKnown = [...this.#knownAddresses.values()].some((addresses) => addresses.has(address));
    const pool = this.#isLocal(address) ? 'local' : isKnown ? 'known' : 'strangers';
    const entry: Entry = { address, pool, device: null };
    this.#entries.set(connection, entry);
    return this.#makeRoom(connection, entry);
  }

  /** The sender was verified. Returns the one to close, as above. */
  vouch(connection: Connection, device: KnownDevice): Connection | null {
    const entry = this.#entries.get(connection);
    if (entry === undefined || entry.device !== null) return null;
    entry.device = device;
    if (entry.pool === 'local') return null;
    entry.pool = 'known';
    const addresses = this.#knownAddresses.get(device.id) ?? new Set();
    this.#knownAddresses.delete(device.id);
    this.#knownAddresses.set(device.id, addresses);
    addresses.delete(entry.address);
    addresses.add(entry.address);
    forgetOldest(addresses, MAX_ADDRESSES_PER_DEVICE);
    forgetOldest(this.#knownAddresses, MAX_KNOWN_DEVICES);
    return this.#makeRoom(connection, entry);
  }

  delete(connection: Connection): void {
    this.#entries.delete(connection);
  }

  #makeRoom(newest: Connection, entry: Entry): Connection | null {
    const excess = this.#excess(newest, entry);
    if (excess === null) return null;
    this.dropped++;
    this.#entries.delete(excess);
    return excess;
  }

  #excess(newest: Connection, { pool, address, device }: Entry): Connection | null {
    const all = [...this.#entries].filter(([, entry]) => entry.pool === pool);
    const unverified = all.filter(([, entry]) => entry.device === null);
    const viewers = all.filter(([, entry]) => entry.device?.isOperator === false);
    if (pool !== 'local') {
      const own =
        device === null
          ? unverified.filter(([, entry]) => entry.address === address)
          : all.filter(([, entry]) => entry.device?.id === device.id);
      if (own.length > this.#limits.perAddress) return own[0]![0];
      if (viewers.length > this.#limits.known / 2) return oldestOfMost(viewers);
    }
    if (all.length <= this.#limits[pool]) return null;
    const oldest = oldestOfMost(unverified);
    if (oldest !== null && oldest !== newest) return oldest;
    return oldestOfMost(viewers) ?? (device === null ? newest : oldestOfMost(all));
  }
}

/** The oldest connection of the device, or of the address, with most. */
function oldestOfMost<Connection>(held: readonly [Connection, Entry][]): Connection | null {
  const holderOf = ({ device, address }: Entry) => device?.id ?? address;
  const counts = new Map<string, number>();
  for (const [, entry] of held) counts.set(holderOf(entry), (counts.get(holderOf(entry)) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return held.find(([, entry]) => counts.get(holderOf(entry)) === most)?.[0] ?? null;
}

function forgetOldest(kept: Set<string> | Map<string, unknown>, max: number): void {
  const [oldest] = kept.keys();
  if (kept.size > max) kept.delete(oldest!);
}
