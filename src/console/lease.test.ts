import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Lease, SILENT_MS } from './lease.ts';

describe('lease of the console', () => {
  it('goes to the client that acts first, and to another only on an explicit request', () => {
    const lease = new Lease<string>();
    assert.equal(lease.claim('desk', 0), true);
    assert.equal(lease.claim('headset', 10), false);
    assert.equal(lease.holder, 'desk');
    const before = lease.term;
    assert.equal(lease.claim('headset', 20, true), true);
    assert.deepEqual([lease.holder, lease.term], ['headset', before + 1]);
    assert.equal(lease.claim('desk', 30), false);
  });

  it('is free again after a silence or a release', () => {
    const lease = new Lease<string>();
    lease.claim('desk', 0);
    lease.received('headset', SILENT_MS - 1);
    assert.equal(lease.expire(SILENT_MS - 1), false);
    lease.received('desk', SILENT_MS - 1);
    assert.equal(lease.expire(SILENT_MS + 10), false);
    assert.equal(lease.expire(2 * SILENT_MS), true);
    assert.equal(lease.holder, null);
    assert.equal(lease.claim('headset', 2 * SILENT_MS), true);
    lease.release('desk');
    assert.equal(lease.holder, 'headset');
    lease.release('headset');
    assert.equal(lease.holder, null);
  });

  it('has one holder at a time, and a new term for every new holder', () => {
    const step = fc.record({
      who: fc.constantFrom('a', 'b', 'c'),
      act: fc.constantFrom('claim', 'take', 'received', 'release', 'expire'),
      afterMs: fc.nat(2000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const lease = new Lease<string>();
        let nowMs = 0;
        for (const { who, act, afterMs } of steps) {
          nowMs += afterMs;
          const { holder, term } = lease;
          if (act === 'claim' || act === 'take') {
            const got = lease.claim(who, nowMs, act === 'take');
            assert.equal(got, lease.holder === who);
          } else if (act === 'received') lease.received(who, nowMs);
          else if (act === 'release') lease.release(who);
          else lease.expire(nowMs);
          if (lease.holder !== holder) assert.ok(lease.term > term);
        }
      }),
    );
  });
});
