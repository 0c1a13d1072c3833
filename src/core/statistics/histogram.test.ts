import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DurationHistogram } from './histogram.ts';
import { percentiles } from './percentiles.ts';

const HOUR_NS = 3600e9;
const FLOOR_MS = 268e-6; // upper edge of the first bucket
const durationNs = fc.double({ min: Math.log(1), max: Math.log(HOUR_NS), noNaN: true }).map(Math.exp);

function filled(durations: readonly number[]): DurationHistogram {
  const histogram = new DurationHistogram();
  for (const ns of durations) histogram.add(ns);
  return histogram;
}

describe('duration histogram', () => {
  it('never reports less than the true value, and at most 5 % more', () => {
    fc.assert(
      fc.property(fc.array(durationNs, { minLength: 1, maxLength: 300 }), (durations) => {
        const reported = filled(durations).percentilesMs()!;
        const truth = percentiles(durations)!;
        for (const rank of ['p50', 'p95', 'p99'] as const) {
          const trueMs = truth[rank] / 1e6;
          // A value on the edge of two buckets may round into the lower one: 1e-12 of slack.
          assert.ok(reported[rank] >= trueMs * (1 - 1e-12), `${rank}: ${reported[rank]} < ${trueMs}`);
          assert.ok(
            reported[rank] <= Math.max(FLOOR_MS, trueMs * 1.05),
            `${rank}: ${reported[rank]} >> ${trueMs}`,
          );
        }
        assert.equal(reported.max, truth.max / 1e6);
      }),
    );
  });

  it('is correct at the edges of its buckets', () => {
    for (let step = 0; step < 16 * 30; step++) {
      const ns = 256 * 2 ** (step / 16);
      const reported = filled([ns, ns, 1e13]).percentilesMs()!;
      assert.ok(reported.p50 >= (ns / 1e6) * (1 - 1e-12));
      assert.ok(reported.p50 <= (ns / 1e6) * 1.05);
    }
  });

  it('counts values above a limit, to the width of a bucket', () => {
    const limit = fc.integer({ min: 1000, max: 1e9 });
    fc.assert(
      fc.property(fc.array(durationNs), limit, (durations, limitNs) => {
        const reported = filled(durations).countAbove(limitNs);
        assert.ok(reported >= durations.filter((ns) => ns > limitNs * 1.05).length);
        assert.ok(reported <= durations.filter((ns) => ns >= limitNs * (1 - 1e-12)).length);
      }),
    );
  });

  it('counts every value, zero and negative ones included', () => {
    const histogram = filled([-5, 0, 1, 1e15]);
    assert.equal(histogram.count, 4);
    assert.equal(histogram.percentilesMs()!.max, 1e9);
    assert.equal(filled([-5]).percentilesMs()!.p50, 0);
    assert.equal(new DurationHistogram().percentilesMs(), null);
  });

  it('shares its memory', () => {
    const here = new DurationHistogram();
    const there = new DurationHistogram(here.buffer);
    here.add(1e6);
    assert.equal(there.count, 1);
    assert.equal(there.percentilesMs()!.max, 1);
  });
});
