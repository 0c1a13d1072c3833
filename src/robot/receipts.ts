import type { Counters } from '../core/counters.ts';
import type { Outcome, Receipt } from '../messages/receipt.ts';
import { emptyReceipt } from '../wire/codecs/receipt.ts';
import type { HandOver } from './driver.ts';
import { PendingReceipts } from './pending-receipts.ts';

/** One receipt per command, sent at once or when another thread has written the command. Hot path: nothing allocates. */
export class Receipts {
  /** The next one: fill in what playout knows, then call `reply`, which clears that again. */
  readonly next: Receipt = emptyReceipt();
  readonly #send: (receipt: Receipt) => void;
  /** Null if the driver's `write` itself writes. */
  readonly #pending: PendingReceipts | null;

  constructor(handOver: HandOver | undefined, counters: Counters, send: (receipt: Receipt) => void) {
    this.#send = send;
    this.#pending = handOver === undefined ? null : new PendingReceipts(handOver, counters, send);
  }

  /** `isApplied`: the driver has taken the command. */
  reply(outcome: Outcome, kernelNs: number, receiveNs: number, isApplied: boolean): void {
    const { next } = this;
    next.outcome = outcome;
    next.dropped = outcome === 'dropped-stale';
    next.kernelNs = kernelNs;
    next.receiveNs = receiveNs;
    if (isApplied && this.#pending !== null) this.#pending.add(next);
    else this.#send(next);
    next.dueNs = Number.NaN;
    next.releasedNs = Number.NaN;
    next.appliedNs = Number.NaN;
    next.playoutDelayNs = Number.NaN;
    next.late = false;
  }

  /** Sends those whose writes have ended. Call it before the next write. */
  settle(nowNs: number): void {
    this.#pending?.settle(nowNs);
  }

  /** A new operator must not get the receipts of another. */
  clear(): void {
    this.#pending?.clear();
  }
}
