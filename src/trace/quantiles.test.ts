import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { percentiles } from '../core/statistics/percentiles.ts';
import { EXACT_VALUES, Quantiles } from './quantiles.ts';

describe('Quantiles', () => {
  it('is exact for few values', () => {
    fc.assert(
      fc.property(fc.array(fc.double(), { maxLength: 300 }), (values) => {
        const quantiles = new Quantiles();
        for (const value of values) quantiles.add(value);
        assert.deepEqual(quantiles.percentiles(), percentiles(values));
        assert.ok(quantiles.isExact);
      }),
    );
  });

  it('is accurate to 0.1 % for many values, including negative ones, with an exact maximum', () => {
    const quantiles = new Quantiles();
    const values: number[] = [];
    for (let i = 0; i < EXACT_VALUES + 50_000; i++) {
      const value = Math.round(Math.exp(8 + ((i * 7919) % 100_003) / 9000) - 30_000);
      values.push(value);
      quantiles.add(value);
    }
    quantiles.add(Number.NaN);
    const exact = percentiles(values)!;
    const found = quantiles.percentiles()!;
    assert.ok(!quantiles.isExact);
    assert.equal(quantiles.count, values.length);
    assert.equal(found.max, exact.max);
    for (const q of ['p50', 'p95', 'p99'] as const)
      assert.ok(
        Math.abs(found[q] - exact[q]) <= 0.001 * Math.abs(exact[q]) + 1,
        `${q} ${found[q]} ${exact[q]}`,
      );
    const low = percentiles(values.map((value) => -value))!;
    assert.ok(Math.abs(-quantiles.quantile(0.01) - low.p99) <= 0.001 * Math.abs(low.p99) + 30);
  });

  it('counts values between edges equally in both representations', () => {
    const [few, many] = [new Quantiles(), new Quantiles()];
    for (let i = 0; i < 1000; i++) few.add(i * 1e6);
    for (let round = 0; round < 150; round++) for (let i = 0; i < 1000; i++) many.add(i * 1e6);
    const edges = [-1, 0.5e6, 100.5e6, 500.5e6, 2e9];
    assert.deepEqual(few.counts(edges), [1, 100, 400, 499]);
    assert.deepEqual(many.counts(edges), [150, 15_000, 60_000, 74_850]);
  });
});
