import { type Percentiles, percentiles } from '../core/statistics/percentiles.ts';
import type { TraceRecord } from '../messages/trace-record.ts';

/** How far apart two arms applied the commands of one tick. */
export interface Skew {
  /** Ticks in which both arms applied their command. */
  ticks: number;
  /** Ticks in which only one arm did. */
  oneArmOnly: number;
  /** Null without any tick of both. */
  skewMs: Percentiles | null;
}

/** Pairs the commands of two traces by the instant at which the hands were sampled. */
export class SkewMeter {
  /** Operator time of the write, by operator time of the sample. */
  readonly #left = new Map<number, number>();
  readonly #skewsMs: number[] = [];
  #oneArmOnly = 0;

  addLeft(record: TraceRecord): void {
    this.#left.set(record.sampledNs, appliedOperatorNs(record));
  }

  /** After the whole left trace. */
  addRight(record: TraceRecord): void {
    const leftNs = this.#left.get(record.sampledNs);
    if (leftNs === undefined) return;
    const skewMs = Math.abs(appliedOperatorNs(record) - leftNs) / 1e6;
    if (Number.isFinite(skewMs)) this.#skewsMs.push(skewMs);
    else if (Number.isFinite(leftNs) || Number.isFinite(record.appliedNs)) this.#oneArmOnly++;
  }

  finish(): Skew {
    return { ticks: this.#skewsMs.length, oneArmOnly: this.#oneArmOnly, skewMs: percentiles(this.#skewsMs) };
  }
}

/** The robots of two machines have clocks of their own. */
const appliedOperatorNs = ({ appliedNs, offsetNs }: TraceRecord): number => appliedNs - offsetNs;

export function skewText({ ticks, oneArmOnly, skewMs }: Skew): string {
  if (skewMs === null) return 'no tick in which both arms applied a command';
  const figures = (['p50', 'p95', 'p99', 'max'] as const).map(
    (name) => `${name} ${skewMs[name].toFixed(3)} ms`,
  );
  const alone = oneArmOnly === 0 ? '' : `; in ${oneArmOnly} more only one arm did`;
  return `between the arms: ${figures.join(', ')} (${ticks} ticks in which both applied a command${alone})`;
}
