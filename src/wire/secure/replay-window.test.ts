import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ReplayWindow } from './replay-window.ts';

describe('replay window', () => {
  it('agrees with a set that remembers everything, and rejects what is too old', () => {
    const jumps = fc.array(fc.oneof(fc.integer({ min: -2100, max: 40 }), fc.integer({ min: 0, max: 5000 })), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(jumps, fc.constantFrom(0, 2 ** 31 - 1000, 2 ** 40), (steps, start) => {
        const window = new ReplayWindow();
        const seen = new Set<number>();
        let newest = -1;
        let at = start;
        for (const step of steps) {
          at = Math.max(0, at + step);
          const tooOld = newest - at >= 2016;
          assert.equal(window.isFresh(at), !tooOld && !seen.has(at), `${at} with newest ${newest}`);
          if (!window.isFresh(at)) continue;
          window.mark(at);
          seen.add(at);
          newest = Math.max(newest, at);
        }
      }),
    );
  });
});
