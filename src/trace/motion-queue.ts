import { type PackedTrace, TRACE, type TraceRecord } from '../messages/trace-record.ts';
import { GIVE_UP_NS, type MotionMatcher } from './motion.ts';

/** How long a closed command may wait for states that would show its motion: these may be late themselves. */
const PATIENCE_NS = 2 * GIVE_UP_NS;

/** Closed commands on their way to the file, in the order of closing, until their motion was seen or given up. */
export class MotionQueue {
  readonly #matcher: MotionMatcher;
  readonly #waiting: { record: PackedTrace; sinceNs: number }[] = [];
  readonly #spare: PackedTrace[] = [];

  constructor(matcher: MotionMatcher) {
    this.#matcher = matcher;
  }

  push(packed: Float64Array, nowNs: number): void {
    const record = this.#spare.pop() ?? TRACE.create();
    record.packed.set(packed);
    this.#waiting.push({ record, sinceNs: nowNs });
  }

  /** Hands out what is ready; everything, with `nowNs` = ∞. The record is reused. */
  drain(nowNs: number, onReady: (record: TraceRecord) => void): void {
    let ready = 0;
    for (const { record, sinceNs } of this.#waiting) {
      if (!this.#matcher.resolve(record) && nowNs - sinceNs < PATIENCE_NS) break;
      onReady(record);
      this.#spare.push(record);
      ready++;
    }
    this.#waiting.splice(0, ready);
  }
}
