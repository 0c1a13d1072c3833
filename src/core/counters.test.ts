import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Counters, REASONS } from './counters.ts';

describe('counters', () => {
  it('count each reason separately and show only those that occurred', () => {
    const additions = fc.array(fc.tuple(fc.constantFrom(...REASONS), fc.integer({ min: 1, max: 1000 })));
    fc.assert(
      fc.property(additions, (added) => {
        const counters = new Counters();
        const expected: Record<string, number> = {};
        for (const [reason, n] of added) {
          if (n === 1) counters.add(reason);
          else counters.add(reason, n);
          expected[reason] = (expected[reason] ?? 0) + n;
        }
        assert.deepEqual(counters.snapshot(), expected);
        for (const reason of REASONS) assert.equal(counters.get(reason), expected[reason] ?? 0);
      }),
    );
  });

  it('share their memory', () => {
    const here = new Counters();
    const there = new Counters(here.buffer);
    here.add('oversize', 3);
    assert.equal(there.get('oversize'), 3);
  });

  it('name each reason once, in a sorted list', () => {
    assert.deepEqual([...REASONS], [...new Set(REASONS)].sort());
  });
});
