import { hostOfText } from '../core/ip-hosts.ts';

/** After this much silence another sender may take over a port. */
const SILENCE_NS = 1e9;

/**
 * For protocols without authentication: a port accepts the first address that sends, until it has been silent
 * for a second. Addresses are host · 65536 + port (`core/ip-hosts.ts`).
 */
export class SourceLock {
  readonly #allowed: ReadonlySet<number> | null;
  #from = 0;
  #receivedNs = Number.NEGATIVE_INFINITY;

  /** `allow`: addresses; empty allows all. Call it in the thread that receives. */
  constructor(allow: readonly string[]) {
    this.#allowed =
      allow.length === 0 ? null : new Set(allow.map((address) => hostOfText(address, { pin: true }) ?? -1));
  }

  /** Call it for well-formed messages only: garbage neither takes nor keeps a port. Hot path. */
  admit(from: number, nowNs: number): 'known' | 'new' | 'rejected' {
    if (this.#allowed !== null && !this.#allowed.has(Math.floor(from / 65536))) return 'rejected';
    const silent = nowNs - this.#receivedNs > SILENCE_NS;
    if (!silent && from !== this.#from) return 'rejected';
    this.#from = from;
    this.#receivedNs = nowNs;
    return silent ? 'new' : 'known';
  }

  /** From the machine that holds the port, whatever port it sends from. Hot path. */
  isHolderMachine(from: number, nowNs: number): boolean {
    const holder = this.holder(nowNs);
    return holder !== 0 && Math.floor(from / 65536) === Math.floor(holder / 65536);
  }

  /** Who holds the port; 0: none. */
  holder(nowNs: number): number {
    return nowNs - this.#receivedNs > SILENCE_NS ? 0 : this.#from;
  }
}
