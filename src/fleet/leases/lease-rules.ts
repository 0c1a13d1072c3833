import type { LeaseVerb } from '../subjects.ts';

/** A robot's lease in the store. Never removed: the token of a free lease still counts. */
export interface LeaseEntry {
  /** Empty: free. */
  user: string;
  /** Public key that the holder made for this acquisition. */
  key: string;
  /** Only increases. */
  token: number;
  /** When it was last proven, on the service's wall clock. */
  atMs: number;
}

export interface LeaseRequest {
  verb: LeaseVerb;
  user: string;
  key?: string | undefined;
  token?: number | undefined;
  /** `keep`: the highest token that the robot has seen. */
  seen?: number | undefined;
}

export type LeaseProblem = 'held' | 'not-holder' | 'bad-token' | 'malformed';

export type LeaseDecision =
  | { kind: 'refuse'; why: LeaseProblem }
  | { kind: 'show' }
  | { kind: 'write'; entry: LeaseEntry };

/** A holder that was silent for this long, while the store could be written, has left. */
export const VACANT_MS = 5000;
/** A robot may raise its own token up to this far ahead of the clock. */
const AHEAD_MS = 86_400_000;

export const isHeld = (entry: LeaseEntry | null, nowMs: number, healthyAtMs: number): boolean =>
  entry !== null && entry.user !== '' && nowMs - Math.max(entry.atMs, healthyAtMs) < VACANT_MS;

/**
 * What the lease service does with a request. `healthyAtMs`: since when the store could be written without a
 * gap; a silence before that was the store's, not the holder's. No clock and no I/O; two services whose
 * clocks differ may decide about the same entry, and the store accepts one of them.
 */
export function decide(
  entry: LeaseEntry | null,
  request: LeaseRequest,
  nowMs: number,
  healthyAtMs: number,
): LeaseDecision {
  const { verb, user, key = '', token } = request;
  if (verb === 'look') return { kind: 'show' };
  if (verb === 'take') return take(entry, user, key, nowMs, healthyAtMs);
  const floor = entry?.token ?? 0;
  if (verb === 'keep' && request.seen !== undefined && request.seen > floor) {
    if (request.seen > nowMs + AHEAD_MS) return { kind: 'refuse', why: 'bad-token' };
    return { kind: 'write', entry: { user: '', key: '', token: request.seen, atMs: 0 } };
  }
  if (entry === null || entry.user === '') return { kind: 'refuse', why: 'not-holder' };
  if (verb === 'away') return { kind: 'write', entry: freed(entry) };
  const isTheirs = (verb === 'keep' || verb === 'drop' || entry.user === user) && entry.token === token;
  if (!isTheirs) return { kind: 'refuse', why: 'not-holder' };
  return {
    kind: 'write',
    entry: verb === 'renew' || verb === 'keep' ? { ...entry, atMs: nowMs } : freed(entry),
  };
}

function take(
  entry: LeaseEntry | null,
  user: string,
  key: string,
  nowMs: number,
  healthyAtMs: number,
): LeaseDecision {
  if (key === '') return { kind: 'refuse', why: 'malformed' };
  // The answer to an accepted request was lost, and it is repeated.
  if (entry !== null && entry.user === user && entry.key === key)
    return { kind: 'write', entry: { ...entry, atMs: nowMs } };
  if (isHeld(entry, nowMs, healthyAtMs)) return { kind: 'refuse', why: 'held' };
  // With the clock in it, the token rises even if the store was lost.
  const token = Math.max(entry?.token ?? 0, nowMs) + 1;
  return { kind: 'write', entry: { user, key, token, atMs: nowMs } };
}

const freed = ({ token }: LeaseEntry): LeaseEntry => ({ user: '', key: '', token: token + 1, atMs: 0 });

/** A service writes to the store this often, to notice when it cannot. */
export const BEAT_MS = 500;
const GAP_MS = 1500;

/** Since when the store could be written without a gap, from one service's own writes. */
export class StoreHealth {
  #sinceMs: number;
  #beatMs: number;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#beatMs = nowMs;
  }

  wrote(nowMs: number): void {
    if (nowMs - this.#beatMs > GAP_MS) this.#sinceMs = nowMs;
    this.#beatMs = nowMs;
  }

  failed(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  sinceMs(nowMs: number): number {
    return nowMs - this.#beatMs > GAP_MS ? nowMs : this.#sinceMs;
  }
}
