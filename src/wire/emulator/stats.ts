import { DurationHistogram } from '../../core/statistics/histogram.ts';
import type { Percentiles } from '../../core/statistics/percentiles.ts';
import { LOSSES, type Loss } from './link-model.ts';

const COUNTS = [
  'received',
  'forwarded',
  'duplicated',
  'reordered',
  'queued',
  'oversize',
  'unknownSource',
  'noClient',
  'sendFailed',
] as const;
type Count = (typeof COUNTS)[number];

/**
 * One direction, since the start. Every datagram is accounted for:
 * received + duplicated = forwarded + lost + queued + oversize + noClient + sendFailed.
 */
export interface DirectionStats extends Record<Count, number> {
  lost: number;
  lostBy: Partial<Record<Loss, number>>;
  /** From arrival to requested delivery. */
  delayMs: Percentiles | null;
  /** From requested to actual delivery. */
  errorMs: Percentiles | null;
}

export interface DirectionMemory {
  counts: SharedArrayBuffer;
  delay: SharedArrayBuffer;
  error: SharedArrayBuffer;
}

const SIZE = COUNTS.length + LOSSES.length;
const INDEX = new Map<Count | Loss, number>([...COUNTS, ...LOSSES].map((name, i) => [name, i]));

/** Counters in shared memory: one thread writes, any thread reads. */
export class DirectionCounters {
  readonly delay: DurationHistogram;
  readonly error: DurationHistogram;
  readonly #counts: Float64Array;

  static memory(): DirectionMemory {
    return {
      counts: new SharedArrayBuffer(8 * SIZE),
      delay: new DurationHistogram().buffer,
      error: new DurationHistogram().buffer,
    };
  }

  constructor(memory: DirectionMemory) {
    this.#counts = new Float64Array(memory.counts);
    this.delay = new DurationHistogram(memory.delay);
    this.error = new DurationHistogram(memory.error);
  }

  /** Hot path. */
  add(name: Count | Loss, n = 1): void {
    const index = INDEX.get(name)!;
    this.#counts[index] = this.#counts[index]! + n;
  }

  snapshot(): DirectionStats {
    const lostBy: Partial<Record<Loss, number>> = {};
    let lost = 0;
    for (const loss of LOSSES) {
      const count = this.#counts[INDEX.get(loss)!]!;
      lost += count;
      if (count > 0) lostBy[loss] = count;
    }
    const counts = Object.fromEntries(COUNTS.map((name, i) => [name, this.#counts[i]!]));
    return {
      ...(counts as Record<Count, number>),
      lost,
      lostBy,
      delayMs: this.delay.percentilesMs(),
      errorMs: this.error.percentilesMs(),
    };
  }
}

export interface LinkStats {
  forward: DirectionStats;
  return: DirectionStats;
}
