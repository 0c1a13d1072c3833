import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Column } from './columns.ts';

const withoutSignOfZero = (x: number) => x + 0;

describe('a column', () => {
  it('gives back what was put in, whatever its size', () => {
    const value = fc.oneof(
      fc.integer(),
      fc.double(),
      fc.maxSafeInteger(),
      fc.constantFrom(Number.NaN, -(2 ** 31), 2 ** 31 - 1, 2 ** 31, Number.POSITIVE_INFINITY),
    );
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const column = new Column();
        for (const x of values) column.push(x);
        assert.equal(column.length, values.length);
        assert.deepEqual([...column.toFloat64()].map(withoutSignOfZero), values.map(withoutSignOfZero));
      }),
    );
  });

  it('keeps its values across chunks, and in another order', () => {
    const column = new Column();
    for (let i = 0; i < 50_000; i++) column.push(i === 20_000 ? 1e12 : i % 1000 === 0 ? Number.NaN : -i);
    const values = column.toFloat64();
    assert.deepEqual(
      [values[0], values[19_999], values[20_000], values[49_999]],
      [Number.NaN, -19_999, 1e12, -49_999],
    );
    const reversed = column.toFloat64(Uint32Array.from(values, (_, i) => 49_999 - i));
    assert.deepEqual(reversed, values.toReversed());
  });
});
