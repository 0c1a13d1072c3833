import {
  emptyTraceRecord,
  packTraceRecord,
  TRACE_FIELDS,
  type TraceRecord,
  unpackTraceRecord,
} from '../messages/trace-record.ts';
import { GIVE_UP_NS, type MotionMatcher } from './motion.ts';

/** How long a closed command may wait for states that would show its motion: these may be late themselves. */
const PATIENCE_NS = 2 * GIVE_UP_NS;
const FIELDS = TRACE_FIELDS.length;

/** Closed commands on their way to the file, in the order of closing, until their motion was seen or given up. */
export class MotionQueue {
  readonly #matcher: MotionMatcher;
  readonly #waiting: { packed: Float64Array; sinceNs: number }[] = [];
  readonly #spare: Float64Array[] = [];
  readonly #record = emptyTraceRecord();

  constructor(matcher: MotionMatcher) {
    this.#matcher = matcher;
  }

  push(packed: Float64Array, nowNs: number): void {
    const copy = this.#spare.pop() ?? new Float64Array(FIELDS);
    copy.set(packed);
    this.#waiting.push({ packed: copy, sinceNs: nowNs });
  }

  /** Hands out what is ready; everything, with `nowNs` = ∞. The record is reused. */
  drain(nowNs: number, onReady: (record: TraceRecord) => void): void {
    let ready = 0;
    for (const { packed, sinceNs } of this.#waiting) {
      unpackTraceRecord(packed, this.#record);
      if (!this.#matcher.resolve(this.#record) && nowNs - sinceNs < PATIENCE_NS) break;
      packTraceRecord(this.#record, packed);
      onReady(this.#record);
      this.#spare.push(packed);
      ready++;
    }
    this.#waiting.splice(0, ready);
  }
}
