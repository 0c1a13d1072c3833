import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { percentiles, variation } from './percentiles.ts';

/** The smallest value with at least `percent` of all values at or below it. */
function naive(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.find((value) => values.filter((v) => v <= value).length * 100 >= percent * values.length)!;
}

describe('percentiles', () => {
  it('are nearest-rank', () => {
    const values = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 250 });
    fc.assert(
      fc.property(values, (all) => {
        assert.deepEqual(percentiles(all), {
          p50: naive(all, 50),
          p95: naive(all, 95),
          p99: naive(all, 99),
          max: Math.max(...all),
        });
      }),
    );
  });

  it('of 1 to 100 are 50, 95, 99 and 100', () => {
    const all = Array.from({ length: 100 }, (_, i) => 100 - i);
    assert.deepEqual(percentiles(all), { p50: 50, p95: 95, p99: 99, max: 100 });
  });

  it('skip values that are not finite, and do not modify the input', () => {
    const all = [3, Number.NaN, 1, Number.POSITIVE_INFINITY, 2, Number.NEGATIVE_INFINITY];
    const before = [...all];
    assert.deepEqual(percentiles(all), { p50: 2, p95: 3, p99: 3, max: 3 });
    assert.deepEqual(all, before);
    const typed = Float64Array.of(5, 4);
    percentiles(typed);
    assert.deepEqual([...typed], [5, 4]);
  });

  it('are null for no values', () => {
    assert.equal(percentiles([]), null);
    assert.equal(percentiles([Number.NaN]), null);
  });
});

describe('variation', () => {
  it('is the distance between neighbours', () => {
    assert.deepEqual([...variation([1, 4, 2, 2])], [3, 2, 0]);
    assert.equal(variation([7]).length, 0);
    assert.equal(variation([]).length, 0);
  });

  it('adds up to at least the distance from first to last', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1e6, max: 1e6 }), { minLength: 1 }), (all) => {
        const sum = variation(all).reduce((total, step) => total + step, 0);
        assert.ok(sum >= Math.abs(all[all.length - 1]! - all[0]!));
      }),
    );
  });
});
