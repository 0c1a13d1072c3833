import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { differenceInterval, pooledQuantile, sliceInterval } from './bootstrap.ts';

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

const slicesOf = (random: () => number, slices: number, shift: number): Float64Array[] =>
  Array.from({ length: slices }, () => Float64Array.from({ length: 60 }, () => shift + random() + random()));

describe('bootstrap over slices', () => {
  it('finds pooled nearest-rank quantiles', () => {
    const groups = [Float64Array.of(5, 1), Float64Array.of(3), Float64Array.of(2, 4)];
    assert.equal(pooledQuantile(groups, 0.5), 3);
    assert.equal(pooledQuantile(groups, 1), 5);
    assert.ok(Number.isNaN(pooledQuantile([], 0.5)));
  });

  it('covers the true median in about 95 % of runs', () => {
    const random = seeded(7);
    let covered = 0;
    for (let run = 0; run < 40; run++) {
      const { low, high } = sliceInterval(slicesOf(random, 12, 0), 0.5, random);
      if (low <= 1 && 1 <= high) covered++;
    }
    assert.ok(covered >= 33, `${covered} of 40`);
  });

  it('distinguishes a real difference from none', () => {
    const random = seeded(11);
    const a = slicesOf(random, 10, 0);
    const real = differenceInterval(a, slicesOf(random, 10, 0.2), 0.5, random);
    assert.ok(real.high < 0, `[${real.low}, ${real.high}] excludes zero`);
    const none = differenceInterval(a, slicesOf(random, 10, 0), 0.5, random);
    assert.ok(none.low <= 0 && none.high >= 0);
  });
});
