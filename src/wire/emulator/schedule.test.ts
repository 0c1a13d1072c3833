import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_DATAGRAM_BYTES } from '../reactor.ts';
import { Schedule } from './schedule.ts';

describe('Schedule', () => {
  it('returns datagrams by time, then by insertion order, for any mix of puts and takes', () => {
    // A time to put in, or null for a take.
    const steps = fc.array(fc.option(fc.integer({ min: 0, max: 20 }), { freq: 2 }), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (plan) => {
        const schedule = new Schedule(64);
        let model: { atNs: number; id: number }[] = [];
        const bytes = new Uint8Array(8);
        plan.forEach((atNs, id) => {
          if (atNs === null) {
            const expected = model.toSorted((a, b) => a.atNs - b.atNs || a.id - b.id)[0];
            const item = schedule.shift();
            model = model.filter((entry) => entry !== expected);
            assert.deepEqual(item && { atNs: item.deliverNs, id: item.bytes[0] }, expected ?? null);
          } else {
            bytes[0] = id;
            assert.equal(schedule.push(atNs, 0, 0, 0, bytes, 1), model.length < 64);
            bytes.fill(0xee);
            if (model.length < 64) model.push({ atNs, id });
          }
          assert.equal(schedule.length, model.length);
          assert.equal(schedule.nextNs, Math.min(Number.POSITIVE_INFINITY, ...model.map(({ atNs: t }) => t)));
        });
      }),
    );
  });

  it('keeps the longest datagram intact next to its neighbours', () => {
    const schedule = new Schedule(3);
    for (let i = 1; i <= 3; i++)
      schedule.push(i, i, i, i % 2, new Uint8Array(MAX_DATAGRAM_BYTES).fill(i), MAX_DATAGRAM_BYTES);
    for (let i = 1; i <= 3; i++) {
      const item = schedule.shift()!;
      assert.deepEqual([item.mapping, item.direction, item.length], [i, i % 2, MAX_DATAGRAM_BYTES]);
      assert.ok(item.bytes.every((byte) => byte === i));
    }
    assert.equal(schedule.shift(), null);
  });
});
