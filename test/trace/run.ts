import { emptyTraceRecord, OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';

export const MS = 1e6;
const OFFSET_NS = 5e12;

export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface RunOptions {
  seconds: number;
  /** One-way wire time of a tick. */
  wireMs: (tick: number, random: () => number) => number;
  seed?: number;
  session?: number;
}

/** Commands at 100 Hz, applied on arrival; a command overtaken by a newer one is dropped as stale. */
export function runOf({ seconds, wireMs, seed = 1, session = 1 }: RunOptions): TraceRecord[] {
  const random = seeded(seed);
  const records: TraceRecord[] = [];
  for (let seq = 0; seq < seconds * 100; seq++) {
    const record = emptyTraceRecord();
    const sampledNs = 1e9 + seq * 10 * MS;
    const kernelNs = sampledNs + 0.1 * MS + wireMs(seq, random) * MS + OFFSET_NS;
    Object.assign(record, { session, seq, outcome: 0, reason: -1, sampledNs, offsetNs: OFFSET_NS });
    Object.assign(record, { pipelineDoneNs: sampledNs + 50_000, wireSentNs: sampledNs + 100_000 });
    Object.assign(record, {
      uncertaintyNs: 20_000,
      kernelNs,
      receiveNs: kernelNs + 100_000,
      dueNs: kernelNs,
      late: 0,
    });
    Object.assign(record, {
      releasedNs: kernelNs + 110_000,
      appliedNs: kernelNs + 200_000,
      playoutDelayNs: 0,
    });
    records.push(record);
  }
  let newestNs = Number.POSITIVE_INFINITY;
  for (const record of records.toReversed()) {
    if (record.appliedNs > newestNs) {
      record.outcome = OUTCOMES.indexOf('dropped-stale');
      record.dueNs = record.releasedNs = record.appliedNs = Number.NaN;
    } else newestNs = record.appliedNs;
  }
  return records;
}

/**
 * The ten minutes of document 002: a flat band at a few milliseconds, a dozen clusters of one to a few seconds with
 * spikes up to some 50 ms, and one stall of 230 ms.
 */
export const document002 = (): TraceRecord[] =>
  runOf({
    seconds: 600,
    wireMs: (tick, random) => {
      const second = tick / 100;
      const inCluster = second > 20 && second % 55 < 4.5;
      const baseMs = 3 + 1.5 * random();
      if (tick >= 30_000 && tick < 30_023) return 229 - 10 * (tick - 30_000);
      // Blocked for about 40 ms, then the queue drains by 10 ms per tick.
      return inCluster && tick % 16 < 4 ? 43 - 10 * (tick % 16) : baseMs;
    },
  });
