import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nearestOnBox, nearestOnSegments } from './nearest-points.ts';

const metre = fc.integer({ min: -1000, max: 1000 }).map((mm) => mm / 1000);
const segment = fc.array(metre, { minLength: 6, maxLength: 6 });
const lengthM = fc.integer({ min: 10, max: 1000 }).map((mm) => mm / 1000);
const box = fc
  .tuple(fc.tuple(metre, metre, metre), fc.tuple(lengthM, lengthM, lengthM))
  .map(([min, size]) => [...min, ...min.map((m, i) => m + size[i]!)]);

const pointOn = (s: readonly number[], share: number) =>
  [0, 1, 2].map((i) => s[i]! + share * (s[i + 3]! - s[i]!));
const apart = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);
const inBox = (b: readonly number[], p: readonly number[]) =>
  p.map((x, i) => Math.max(b[i]!, Math.min(b[i + 3]!, x)));

/** Distance of a point from the line between a segment's ends. */
const offSegment = (s: readonly number[], p: ArrayLike<number>) => {
  const u = [0, 1, 2].map((i) => s[i + 3]! - s[i]!);
  const square = u.reduce((sum, x) => sum + x * x, 0);
  const along = u.reduce((sum, x, i) => sum + x * (p[i]! - s[i]!), 0);
  return apart(p, pointOn(s, square > 0 ? Math.max(0, Math.min(1, along / square)) : 0));
};

const SHARES = Array.from({ length: 41 }, (_, i) => i / 40);

describe('nearest points', () => {
  it('of two segments lie on them, and no others are nearer', () => {
    fc.assert(
      fc.property(segment, segment, (a, b) => {
        const out = new Float64Array(8);
        nearestOnSegments(Float64Array.from([...a, ...b]), 0, 6, out, 1);
        const [onA, onB] = [out.subarray(1, 4), out.subarray(4, 7)];
        assert.ok(offSegment(a, onA) < 1e-9 && offSegment(b, onB) < 1e-9);
        const least = Math.min(...SHARES.map((share) => offSegment(b, pointOn(a, share))));
        assert.ok(apart(onA, onB) <= least + 1e-9, `${apart(onA, onB)} m, ${least} m possible`);
        assert.equal(out[0], 0);
        assert.equal(out[7], 0);
      }),
      { numRuns: 1000 },
    );
  });

  it('of a segment and a box lie on them, and no others are nearer', () => {
    fc.assert(
      fc.property(segment, box, (a, b) => {
        const out = new Float64Array(6);
        nearestOnBox(Float64Array.from(a), 0, Float64Array.from(b), 0, out, 0);
        const [onA, onB] = [out.subarray(0, 3), out.subarray(3, 6)];
        assert.ok(offSegment(a, onA) < 1e-9);
        assert.ok(apart(inBox(b, [...onB]), onB) < 1e-12);
        const least = Math.min(
          ...SHARES.map((share) => apart(pointOn(a, share), inBox(b, pointOn(a, share)))),
        );
        assert.ok(apart(onA, onB) <= least + 1e-5, `${apart(onA, onB)} m, ${least} m possible`);
      }),
      { numRuns: 500 },
    );
  });

  it('of parallel segments do not jump from end to end', () => {
    const out = new Float64Array(6);
    for (const tilt of [-1e-9, -1e-12, 0, 1e-12, 1e-9]) {
      nearestOnSegments(Float64Array.of(0, 0, 0, 1, 0, 0, 0, 0.1, 0, 1, 0.1 + tilt, 0), 0, 6, out, 0);
      assert.ok(Math.abs(apart(out.subarray(0, 3), out.subarray(3, 6)) - 0.1) < 1e-8);
    }
  });
});
