import { type PackedTrace, TRACE, type TraceRecord } from '../messages/trace-record.ts';
import { GIVE_UP_NS, type MotionMatcher } from './motion.ts';

/** How long a closed command waits for states that could show its motion; they may be late too. */
const PATIENCE_NS = 2 * GIVE_UP_NS;

/** Closed commands waiting to be written, in closing order, until their motion was seen or given up. */
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

  /** Emits what is ready; everything if `nowNs` = ∞. The record is reused. */
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
