import { NS_PER_S } from '../../core/time/clock.ts';
import type { Impairment } from './impairment.ts';

/** A link of finite rate behind a finite buffer that drops what does not fit. Hot path. */
export class Bottleneck {
  readonly #rate: Impairment['rate'];
  readonly #departNs: Float64Array;
  readonly #bytes: Float64Array;
  #head = 0;
  #count = 0;
  #queuedBytes = 0;
  #freeNs = Number.NEGATIVE_INFINITY;

  constructor(rate: Impairment['rate']) {
    this.#rate = rate;
    const capacity = rate.kbitS > 0 ? rate.queueDatagrams : 0;
    this.#departNs = new Float64Array(capacity);
    this.#bytes = new Float64Array(capacity);
  }

  /** When the last bit of a datagram that may leave from `readyNs` on is out; NaN when the buffer is full. */
  enter(nowNs: number, readyNs: number, bytes: number): number {
    const { kbitS, queueBytes, queueDatagrams } = this.#rate;
    if (kbitS === 0) return readyNs;
    this.#release(nowNs);
    if (this.#count >= queueDatagrams || this.#queuedBytes + bytes > queueBytes) return Number.NaN;
    this.#freeNs = Math.max(readyNs, this.#freeNs) + (bytes * 8 * NS_PER_S) / (kbitS * 1000);
    const tail = (this.#head + this.#count) % queueDatagrams;
    this.#departNs[tail] = this.#freeNs;
    this.#bytes[tail] = bytes;
    this.#count++;
    this.#queuedBytes += bytes;
    return this.#freeNs;
  }

  #release(nowNs: number): void {
    while (this.#count > 0 && this.#departNs[this.#head]! <= nowNs) {
      this.#queuedBytes -= this.#bytes[this.#head]!;
      this.#head = (this.#head + 1) % this.#rate.queueDatagrams;
      this.#count--;
    }
  }
}
