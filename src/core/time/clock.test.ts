import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock, monotonicClock } from './clock.ts';

describe('monotonic clock', () => {
  it('never goes back and counts in nanoseconds', () => {
    const startNs = monotonicClock.nowNs();
    const reference = process.hrtime.bigint();
    let lastNs = startNs;
    for (let i = 0; i < 10_000; i++) {
      const nowNs = monotonicClock.nowNs();
      assert.ok(nowNs >= lastNs);
      lastNs = nowNs;
    }
    assert.ok(lastNs > startNs);
    assert.ok(Math.abs(startNs - Number(reference)) < 1e9);
  });
});

describe('manual clock', () => {
  it('starts at the given instant and stands still', () => {
    const clock = new ManualClock(42);
    assert.equal(clock.nowNs(), 42);
    assert.equal(clock.nowNs(), 42);
    assert.equal(new ManualClock().nowNs(), 1e9);
  });

  it('holds the latest instant it was ever moved to', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: -1000, max: 1000 }))), (moves) => {
        const clock = new ManualClock(0);
        let expectedNs = 0;
        for (const [relative, ns] of moves) {
          if (relative) clock.advanceBy(ns);
          else clock.advanceTo(ns);
          expectedNs = Math.max(expectedNs, relative ? expectedNs + ns : ns);
          assert.equal(clock.nowNs(), expectedNs);
        }
      }),
    );
  });
});
