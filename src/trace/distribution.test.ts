import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { Column } from './columns.ts';
import { sortedOrder } from './distribution.ts';

it('orders keys as a stable sort does, and says null when there is nothing to do', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 200 }), (keys) => {
      const column = new Column();
      for (const key of keys) column.push(key);
      const expected = keys.map((_, i) => i).sort((a, b) => keys[a]! - keys[b]!);
      const sorted = expected.every((at, i) => at === i);
      const order = sortedOrder(column);
      assert.deepEqual(order && [...order], sorted ? null : expected);
    }),
  );
});
