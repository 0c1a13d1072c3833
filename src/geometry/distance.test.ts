import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FAR_M, segmentBoxDistanceInto, segmentDistance, segmentHeight } from './distance.ts';

const STEPS = 200;
const coordinates = (count: number) =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.double({ min: -1, max: 1, noNaN: true }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 0.5, -0.5) },
    ),
    { minLength: count, maxLength: count },
  );

/** Points along the segment at `at`. */
function* along(ends: readonly number[], at: number): Generator<number[]> {
  for (let n = 0; n <= STEPS; n++)
    yield [0, 1, 2].map((axis) => ends[at + axis]! + (n / STEPS) * (ends[at + 3 + axis]! - ends[at + axis]!));
}

const lengthOf = (ends: readonly number[], at: number) =>
  Math.hypot(...[0, 1, 2].map((axis) => ends[at + 3 + axis]! - ends[at + axis]!));

describe('distances', () => {
  it('between segments are minimal, within sampling accuracy', () => {
    fc.assert(
      fc.property(coordinates(12), (ends) => {
        const found = segmentDistance(Float64Array.from(ends), 0, 6);
        let least = Number.POSITIVE_INFINITY;
        const others = [...along(ends, 6)];
        for (const a of along(ends, 0))
          for (const b of others)
            least = Math.min(least, Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!));
        assert.ok(found <= least + 1e-9, `${found} > ${least}`);
        assert.ok(found >= least - (lengthOf(ends, 0) + lengthOf(ends, 6)) / STEPS, `${found} < ${least}`);
      }),
      { numRuns: 40 },
    );
  });

  it('between segments handle parallel, degenerate and crossing segments', () => {
    const of = (...ends: number[]) => segmentDistance(Float64Array.from(ends), 0, 6);
    assert.equal(of(0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0), 2);
    assert.equal(of(0, 0, 0, 1, 0, 0, 3, 0, 0, 4, 0, 0), 2);
    assert.equal(of(0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 3), 3);
    assert.equal(of(-1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0), 0);
  });

  it('from a segment to a box are minimal, within sampling accuracy', () => {
    fc.assert(
      fc.property(coordinates(6), coordinates(3), (ends, corner) => {
        const box = [...corner, corner[0]! + 0.3, corner[1]! + 0.5, corner[2]! + 0.1];
        const out = new Float64Array(1);
        segmentBoxDistanceInto(Float64Array.from(ends), 0, Float64Array.from(box), 0, out, 0);
        const found = out[0]!;
        let least = Number.POSITIVE_INFINITY;
        for (const p of along(ends, 0))
          least = Math.min(least, Math.hypot(...p.map((x, i) => Math.max(0, box[i]! - x, x - box[i + 3]!))));
        assert.ok(found <= least + 1e-7, `${found} > ${least}`);
        if (found > FAR_M) return;
        assert.ok(found >= least - lengthOf(ends, 0) / STEPS - 1e-9, `${found} < ${least}`);
      }),
      { numRuns: 1000 },
    );
  });

  it('to the ground are signed', () => {
    assert.equal(segmentHeight(Float64Array.of(0, 0, 1, 5, 5, 2), 0, 0.5), 0.5);
    assert.equal(segmentHeight(Float64Array.of(0, 0, 1, 5, 5, -2), 0, 0.5), -2.5);
  });
});
