import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REASONS } from '../core/counters.ts';
import { emptyTraceRecord, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import { createReport, summaryOf } from './report.ts';

const MS = 1e6;
const OFFSET_NS = 5e12;

/** A command at `seq` × 10 ms: 1 ms pipeline, 0.1 serialise, `wireMs`, 0.2 receive, 10 playout, 0.5 apply. */
function command(seq: number, wireMs: number, fields: Partial<TraceRecord> = {}): TraceRecord {
  const sampledNs = 1e9 + seq * 10 * MS;
  const kernelNs = sampledNs + 1.1 * MS + wireMs * MS + OFFSET_NS;
  return {
    session: 1,
    seq,
    outcome: 0,
    reason: -1,
    sampledNs,
    pipelineDoneNs: sampledNs + 1 * MS,
    wireSentNs: sampledNs + 1.1 * MS,
    kernelNs,
    receiveNs: kernelNs + 0.2 * MS,
    dueNs: kernelNs + 10.1 * MS,
    releasedNs: kernelNs + 10.2 * MS,
    appliedNs: kernelNs + 10.7 * MS,
    offsetNs: OFFSET_NS,
    uncertaintyNs: 0.3 * MS,
    queueDepth: 1,
    playoutDelayNs: 4_000_000,
    late: 0,
    filterDelayNs: Number.NaN,
    deviceNs: Number.NaN,
    sentNs: Number.NaN,
    arrivedNs: Number.NaN,
    movedNs: Number.NaN,
    halt: Number.NaN,
    haltNs: Number.NaN,
    ...fields,
  };
}

function unapplied(
  seq: number,
  outcome: (typeof OUTCOMES)[number],
  fields: Partial<TraceRecord> = {},
): TraceRecord {
  const gone = { dueNs: Number.NaN, releasedNs: Number.NaN, appliedNs: Number.NaN };
  return command(seq, 50, { outcome: OUTCOMES.indexOf(outcome), ...gone, ...fields });
}

function reportOf(records: TraceRecord[]) {
  const report = createReport();
  for (const record of records) report.add(record);
  return report.finish();
}

describe('TraceReport', () => {
  it('counts every outcome and keeps late within applied', () => {
    const report = reportOf([
      command(0, 2),
      command(1, 30, { outcome: OUTCOMES.indexOf('late'), uncertaintyNs: 0.9 * MS, queueDepth: 4 }),
      unapplied(2, 'dropped-stale'),
      unapplied(3, 'rejected', { reason: REASONS.indexOf('not-armed') }),
      unapplied(4, 'rejected', { reason: -1 }),
      unapplied(5, 'lost', { kernelNs: Number.NaN, receiveNs: Number.NaN, queueDepth: Number.NaN }),
      command(6, 2, { offsetNs: Number.NaN, uncertaintyNs: Number.NaN }),
      command(7, 2, { uncertaintyNs: 0.2 * MS }),
    ]);
    assert.deepEqual([report.commands, report.applied, report.late, report.dropped], [8, 4, 1, 1]);
    assert.deepEqual([report.rejected, report.lost, report.lossRatio], [2, 1, 1 / 8]);
    assert.deepEqual(report.rejectedBy, { 'not-armed': 1, unknown: 1 });
    assert.equal(report.unsynchronized, 1);
    assert.equal(report.durationNs, 70 * MS);
    assert.deepEqual(report.clockUncertaintyNs, { max: 0.9 * MS, last: 0.2 * MS });
    assert.equal(report.queueDepth?.max, 4);
    assert.equal(report.droppedWireNs?.max, 50 * MS);
    assert.equal(report.oneWay.latencyNs?.max, (30 + 11.8) * MS);
  });

  it('computes the percentiles of a known series', () => {
    const report = reportOf(Array.from({ length: 100 }, (_, i) => command(i, i + 1)));
    const wireMs = { p50: 50, p95: 95, p99: 99, max: 100 };
    const plus = (ms: number) => Object.fromEntries(Object.entries(wireMs).map(([q, x]) => [q, x + ms]));
    const flat = (ms: number) => ({ p50: ms, p95: ms, p99: ms, max: ms });
    assert.deepEqual(summaryOf(report), {
      commands: 100,
      applied: 100,
      late: 0,
      dropped: 0,
      rejected: 0,
      lost: 0,
      oneWayMs: plus(11.8),
      variationMs: flat(1),
      segmentsMs: {
        pipeline: flat(1),
        serialise: flat(0.1),
        wire: wireMs,
        receive: flat(0.2),
        playout: flat(10),
        apply: flat(0.5),
      },
      clockUncertaintyMs: { max: 0.3, last: 0.3 },
      playoutDelayMs: flat(4),
      queueDepth: flat(1),
      filterDelayMs: null,
      outerHopsMs: { capture: null, uplink: null, wait: null, response: null },
      handToMotionMs: null,
      motionLatencyMs: null,
      touchMs: null,
      feel: {
        windows: 0,
        badWindows: 0,
        strictWindows: 0,
        longestLateRun: 0,
        holds: 0,
        stops: 0,
        refused: 0,
      },
    });
    assert.deepEqual(report.segments.wire.variationNs, flat(MS));
    assert.deepEqual(report.segments.playout.variationNs, flat(0));
    assert.deepEqual(report.playoutLatenessNs, flat(0.6 * MS));
  });

  it('pairs applied commands in sequence order, across gaps and losses, in any closing order', () => {
    const records = [command(0, 2), unapplied(1, 'lost'), command(2, 5), command(3, 1), command(9, 2)];
    const forward = reportOf(records);
    assert.deepEqual(forward.oneWay.variationNs, { p50: 3 * MS, p95: 4 * MS, p99: 4 * MS, max: 4 * MS });
    fc.assert(
      fc.property(fc.shuffledSubarray(records, { minLength: records.length }), (shuffled) => {
        assert.deepEqual(reportOf(shuffled), forward);
      }),
    );
  });

  it('pairs nothing across sessions or across a missing offset', () => {
    const restarted = reportOf([
      command(8, 1),
      command(9, 2),
      command(0, 50, { session: 2 }),
      command(1, 52, { session: 2 }),
    ]);
    assert.deepEqual(restarted.oneWay.variationNs, { p50: MS, p95: 2 * MS, p99: 2 * MS, max: 2 * MS });
    assert.equal(restarted.durationNs, 20 * MS);
    const blind = reportOf([command(0, 1), command(1, 9, { offsetNs: Number.NaN }), command(2, 7)]);
    assert.equal(blind.oneWay.variationNs, null);
    assert.equal(blind.segments.apply.variationNs?.max, 0);
  });

  it('returns null for what is unknown, and may be finished repeatedly', () => {
    const builder = createReport();
    const empty = builder.finish();
    assert.equal(empty.lossRatio, null);
    assert.equal(empty.clockUncertaintyNs, null);
    assert.equal(empty.queueDepth, null);
    assert.equal(empty.durationNs, 0);
    assert.equal(summaryOf(empty).oneWayMs, null);
    assert.equal(summaryOf(empty).segmentsMs.wire, null);
    builder.add(command(0, 2));
    assert.equal(builder.finish().commands, 1);
    assert.equal(builder.finish().oneWay.variationNs, null);
    assert.equal(JSON.stringify(summaryOf(builder.finish())).includes('NaN'), false);
  });

  it('counts missing stamps', () => {
    const record = command(0, 2, { kernelNs: Number.NaN, releasedNs: Number.NaN });
    const report = reportOf([
      record,
      command(1, 2),
      { ...emptyTraceRecord(), session: 1, seq: 2, outcome: 3, reason: -1 },
    ]);
    assert.deepEqual([report.withoutKernel, report.withoutRelease], [1, 1]);
  });

  it('rounds to the microsecond', () => {
    const summary = summaryOf(reportOf([command(0, 2.000_499), command(1, 2.000_5)]));
    assert.deepEqual([summary.segmentsMs.wire?.p50, summary.segmentsMs.wire?.max], [2, 2.001]);
  });
});
