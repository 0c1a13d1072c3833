import { percentiles } from '../core/statistics/percentiles.ts';
import type { ClosedCommand } from '../messages/telemetry.ts';

/** Commands farther apart than this do not follow each other: the clutch was open between them. */
const GAP_S = 0.1;
/** The last two seconds at 100 Hz. */
const KEPT = 200;

/** By how much the latency changes from one command to the next, over the last two seconds of driving. */
export class FeltVariation {
  readonly #stepsMs: number[] = [];
  #last: ClosedCommand | null = null;
  #largestMs = 0;

  /** Since it was made. */
  get largestMs(): number {
    return this.#largestMs;
  }

  /** Null before the first change. */
  get p95Ms(): number | null {
    return percentiles(this.#stepsMs)?.p95 ?? null;
  }

  add(closed: readonly ClosedCommand[]): void {
    for (const command of closed) if (command.oneWayMs !== null) this.#next(command);
  }

  /** What comes next does not follow what was. */
  pause(): void {
    this.#last = null;
  }

  #next(command: ClosedCommand): void {
    const last = this.#last;
    this.#last = command;
    if (last === null || Math.abs(command.atS - last.atS) > GAP_S) return;
    const stepMs = Math.abs(command.oneWayMs! - last.oneWayMs!);
    this.#largestMs = Math.max(this.#largestMs, stepMs);
    this.#stepsMs.push(stepMs);
    if (this.#stepsMs.length > KEPT) this.#stepsMs.shift();
  }
}
