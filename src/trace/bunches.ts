import type { TraceRecord } from '../messages/trace-record.ts';

/** Commands that arrived on the heels of an earlier one, because they had to wait for it. */
export interface BunchFigures {
  /** Times it happened. */
  bunches: number;
  /** Commands that waited behind another, over all bunches. */
  commands: number;
  /** The longest time on the wire of a command that others waited for; NaN: there was none. */
  longestNs: number;
}

/** Of the time between two sendings: what arrives closer together than this was held back. */
const TOGETHER = 0.25;

/**
 * Finds head-of-line blocking: a command, or a segment of TCP, is late, and what was sent after it arrives together
 * with it. `add` gets commands in send order.
 */
export class Bunches {
  #bunches = 0;
  #commands = 0;
  #longestNs = Number.NaN;
  #sentNs = Number.NaN;
  #arrivedNs = Number.NaN;
  #isIn = false;

  add({ wireSentNs, kernelNs, receiveNs, offsetNs }: TraceRecord): void {
    const arrivedNs = (Number.isNaN(kernelNs) ? receiveNs : kernelNs) - offsetNs;
    if (Number.isNaN(arrivedNs) || Number.isNaN(wireSentNs)) return;
    const betweenNs = wireSentNs - this.#sentNs;
    const isHeld = betweenNs > 0 && arrivedNs - this.#arrivedNs < TOGETHER * betweenNs;
    if (isHeld) {
      if (!this.#isIn) {
        this.#bunches++;
        const headNs = this.#arrivedNs - this.#sentNs;
        if (!(headNs <= this.#longestNs)) this.#longestNs = headNs;
      }
      this.#commands++;
    }
    this.#isIn = isHeld;
    this.#sentNs = wireSentNs;
    this.#arrivedNs = arrivedNs;
  }

  /** Before the first command of another session. */
  restart(): void {
    this.#sentNs = this.#arrivedNs = Number.NaN;
    this.#isIn = false;
  }

  figures(): BunchFigures {
    return { bunches: this.#bunches, commands: this.#commands, longestNs: this.#longestNs };
  }
}
