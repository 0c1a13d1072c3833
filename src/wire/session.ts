import type { Reason } from '../core/counters.ts';
import { NS_PER_S } from '../core/time/clock.ts';
import { type Peer, samePeerHost } from './reactor.ts';

/** A holder silent for longer has lost the lease. */
export const SILENCE_NS = NS_PER_S;
const MAX_DISPLACED = 256;

/**
 * Who may command the robot: one operator session from one host, until it gives up control, has been
 * silent for a second, or the robot's own settings allow a takeover.
 * Addresses are pinned when first used, so another sender cannot act as the holder by naming its session.
 */
export class OperatorLease {
  #session = 0;
  #statePeer: Peer = 0;
  #commandPeer: Peer = 0;
  #receivedNs = Number.NEGATIVE_INFINITY;
  readonly #takeover: boolean;
  readonly #displaced = new Set<number>();

  /** `takeover` lets a new session claim the lease from one that still holds it. */
  constructor(takeover = false) {
    this.#takeover = takeover;
  }

  get session(): number {
    return this.#session;
  }

  /** Where state is sent; 0 when the lease is free. */
  get statePeer(): Peer {
    return this.#statePeer;
  }

  isHeld(nowNs: number): boolean {
    return this.#session !== 0 && nowNs - this.#receivedNs <= SILENCE_NS;
  }

  /** How long the holder has been silent; Infinity if there is none. */
  silentNs(nowNs: number): number {
    return this.#session === 0 ? Number.POSITIVE_INFINITY : nowNs - this.#receivedNs;
  }

  /**
   * A hello. `claimed`: a new session took the lease; `resumed`: the last holder returned after a silence.
   */
  hello(session: number, from: Peer, nowNs: number): 'claimed' | 'renewed' | 'resumed' | Reason {
    if (!(session > 0)) return 'malformed';
    const held = this.isHeld(nowNs);
    if (session === this.#session && from === this.#statePeer) {
      this.#receivedNs = nowNs;
      return held ? 'renewed' : 'resumed';
    }
    if (session === this.#session || (held && !this.#mayTakeOver(session))) return 'not-operator';
    if (held) this.#displaced.add(this.#session);
    this.#session = session;
    this.#statePeer = from;
    this.#commandPeer = 0;
    this.#receivedNs = nowNs;
    return 'claimed';
  }

  /** A displaced session cannot reclaim the lease: it must start anew, or wait until the lease is free. */
  #mayTakeOver(session: number): boolean {
    if (this.#displaced.size >= MAX_DISPLACED) this.#displaced.clear();
    return this.#takeover && !this.#displaced.has(session);
  }

  /** The holder releases the lease: the next hello of any other session takes it. */
  release(session: number, from: Peer): boolean {
    if (session !== this.#session || from !== this.#statePeer) return false;
    this.#receivedNs = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** Cheap test before parsing: may this address send on the command socket at all? */
  mayCommand(from: Peer): boolean {
    if (this.#commandPeer !== 0) return from === this.#commandPeer;
    return this.#session !== 0 && samePeerHost(from, this.#statePeer);
  }

  /** For a parsed command or desk message; pins the command address on the first one. */
  accept(session: number, from: Peer, nowNs: number): boolean {
    if (session !== this.#session || !this.isHeld(nowNs) || !this.mayCommand(from)) return false;
    this.#commandPeer = from;
    this.#receivedNs = nowNs;
    return true;
  }
}
