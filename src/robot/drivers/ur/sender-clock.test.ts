import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SenderClock } from './sender-clock.ts';

const MS = 1e6;

describe('sender clock', () => {
  it('gives late and bunched messages the time they were measured', () => {
    const clock = new SenderClock();
    for (let i = 0; i < 50; i++) clock.place(i * 8 * MS, 500 * MS + i * 8 * MS);
    // Three arrive together, the newest on time.
    const nowNs = 500 * MS + 52 * 8 * MS;
    const placed = [50, 51, 52].map((i) => clock.place(i * 8 * MS, nowNs));
    assert.ok(Math.abs(placed[0]! - (nowNs - 16 * MS)) < 0.1 * MS);
    assert.ok(Math.abs(placed[2]! - nowNs) < 0.1 * MS);
  });

  it('never runs ahead or backwards, for any sender stamps', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.nat(1e9))), (messages) => {
        const clock = new SenderClock();
        let nowNs = 0;
        let lastNs = Number.NEGATIVE_INFINITY;
        for (const [senderNs, waitNs] of messages) {
          nowNs += waitNs;
          const placedNs = clock.place(senderNs, nowNs);
          assert.ok(placedNs <= nowNs && placedNs >= lastNs);
          lastNs = placedNs;
        }
      }),
    );
  });
});
