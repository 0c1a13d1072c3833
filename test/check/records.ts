import type { Baseline } from '../../src/check/baseline.ts';
import { judged, type Measured } from '../../src/check/measured.ts';
import { percentiles } from '../../src/core/statistics/percentiles.ts';
import { emptyTraceRecord, OUTCOMES, type TraceRecord } from '../../src/messages/trace-record.ts';

const PERIOD_NS = 10e6;
const START_NS = 5e12;
const OFFSET_NS = 7e12;
const MS = 1e6;

export interface Tick {
  wireMs?: number;
  playoutMs?: number;
  pipelineMs?: number;
  receiveMs?: number;
  applyMs?: number;
  outcome?: (typeof OUTCOMES)[number];
}

/** A run at 100 Hz on two clocks 7000 s apart. Defaults: wire 1 ms, playout 2 ms, other segments 0.1 ms. */
export function records(count: number, tick: (i: number) => Tick = () => ({})): TraceRecord[] {
  return Array.from({ length: count }, (_, i) => {
    const {
      wireMs = 1,
      playoutMs = 2,
      pipelineMs = 0.1,
      receiveMs = 0.1,
      applyMs = 0.1,
      outcome = 'applied',
    } = tick(i);
    const record = emptyTraceRecord();
    record.session = 1;
    record.seq = i + 1;
    record.outcome = OUTCOMES.indexOf(outcome);
    record.reason = -1;
    record.sampledNs = START_NS + i * PERIOD_NS;
    record.pipelineDoneNs = record.sampledNs + pipelineMs * MS;
    record.wireSentNs = record.pipelineDoneNs + 0.1 * MS;
    record.offsetNs = OFFSET_NS;
    record.uncertaintyNs = 50e3;
    if (outcome === 'lost') return record;
    record.kernelNs = record.wireSentNs + wireMs * MS + OFFSET_NS;
    record.receiveNs = record.kernelNs + receiveMs * MS;
    record.releasedNs = record.receiveNs + playoutMs * MS;
    record.dueNs = record.releasedNs;
    record.appliedNs = record.releasedNs + applyMs * MS;
    return record;
  });
}

/** Probes that took `ms(i)` one way, one beside each tick. */
export function probes(count: number, ms: (i: number) => number): Baseline {
  const samples = Array.from({ length: count }, (_, i) => ({ atNs: START_NS + i * PERIOD_NS, ms: ms(i) }));
  const oneWayMs = percentiles(samples.map((sample) => sample.ms));
  return {
    udp: { method: 'UDP echo', sent: count, lost: 0, oneWayMs, samples },
    icmp: null,
    notes: [],
    clockUncertaintyMs: 0.1,
    tosThere: 0xb8,
    tosBack: 0xb8,
  };
}

export function measured(
  ticks: readonly TraceRecord[],
  baseline: Baseline | null = null,
  fromNs = 0,
): Measured {
  const durationS = ticks.filter((record) => record.sampledNs >= fromNs).length / 100;
  return { ...judged(ticks, fromNs, 100, baseline), durationS, files: [], roles: [], baseline };
}

export const atTick = (i: number): number => START_NS + i * PERIOD_NS;
