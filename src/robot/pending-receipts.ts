import type { Counters, Reason } from '../core/counters.ts';
import { NS_PER_MS } from '../core/time/clock.ts';
import type { Receipt } from '../messages/receipt.ts';
import { copyReceipt, emptyReceipt } from '../wire/codecs/receipt.ts';
import type { HandOver, WriteResult } from './driver.ts';

const CAPACITY = 1024;
/** The supervisor stops a robot whose driver thread is silent for this long. */
const MAX_WAIT_NS = 250 * NS_PER_MS;

/**
 * Receipts of commands that wait for another thread to write them, so that `applied` is the time of that
 * write. Bounded in number and time. Hot path: nothing allocates.
 */
export class PendingReceipts {
  readonly #handOver: HandOver;
  readonly #counters: Counters;
  readonly #send: (receipt: Receipt) => void;
  readonly #receipts = Array.from({ length: CAPACITY }, emptyReceipt);
  readonly #writes = new Float64Array(CAPACITY);
  readonly #result: WriteResult = { number: 0, writtenNs: Number.NaN, isFault: false };
  #oldest = 0;
  #count = 0;

  constructor(handOver: HandOver, counters: Counters, send: (receipt: Receipt) => void) {
    this.#handOver = handOver;
    this.#counters = counters;
    this.#send = send;
  }

  /** Copies the receipt of the last command handed over. Its `appliedNs` is the time of the hand-over. */
  add(receipt: Receipt): void {
    if (this.#count === CAPACITY) this.#reject('dropped-queue-full');
    const at = (this.#oldest + this.#count++) % CAPACITY;
    copyReceipt(receipt, this.#receipts[at]!);
    this.#writes[at] = this.#handOver.newest;
  }

  /** Sends the receipts whose writes have ended. Call it before the next write. */
  settle(nowNs: number): void {
    while (this.#handOver.next(this.#result)) this.#end(this.#result);
    while (this.#count > 0 && nowNs - this.#receipts[this.#oldest]!.appliedNs > MAX_WAIT_NS)
      this.#reject('driver-fault');
  }

  /** A new operator must not get the receipts of another. */
  clear(): void {
    this.#count = 0;
  }

  /** A write carries the newest command handed over before it; the thread never took the older ones. */
  #end({ number, writtenNs, isFault }: WriteResult): void {
    while (this.#count > 0 && this.#writes[this.#oldest]! <= number) {
      const isReplaced = this.#count > 1 && this.#writes[(this.#oldest + 1) % CAPACITY]! <= number;
      if (isReplaced) this.#drop();
      else if (Number.isNaN(writtenNs)) this.#reject(isFault ? 'driver-fault' : 'not-armed');
      else this.#close(writtenNs);
    }
  }

  #drop(): void {
    const receipt = this.#receipts[this.#oldest]!;
    this.#counters.add('dropped-stale');
    receipt.outcome = 'dropped-stale';
    receipt.dropped = true;
    this.#close(Number.NaN);
  }

  #reject(reason: Reason): void {
    this.#counters.add(reason);
    this.#receipts[this.#oldest]!.outcome = `rejected:${reason}`;
    this.#close(Number.NaN);
  }

  #close(appliedNs: number): void {
    const receipt = this.#receipts[this.#oldest]!;
    receipt.appliedNs = appliedNs;
    this.#oldest = (this.#oldest + 1) % CAPACITY;
    this.#count--;
    this.#send(receipt);
  }
}
