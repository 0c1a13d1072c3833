import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { placementMatrix } from './chain.ts';
import { type Placement, placedRelative } from './placement.ts';

const number = fc.double({ min: -3, max: 3, noNaN: true });
const placement = fc.record({
  xyzM: fc.tuple(number, number, number),
  rpyRad: fc.tuple(number, number, number),
}) as fc.Arbitrary<Placement>;

function product(a: Float64Array, b: Float64Array): number[] {
  return [0, 1, 2].flatMap((row) =>
    [0, 1, 2, 3].map((column) => {
      const turned = [0, 1, 2].reduce((sum, k) => sum + a[row * 4 + k]! * b[k * 4 + column]!, 0);
      return column === 3 ? turned + a[row * 4 + 3]! : turned;
    }),
  );
}

describe('relative placement', () => {
  it('own placement times the relative one is the other placement', () => {
    fc.assert(
      fc.property(placement, placement, (own, other) => {
        const joined = product(placementMatrix(own), placementMatrix(placedRelative(own, other)));
        placementMatrix(other).forEach((value, i) => {
          assert.ok(Math.abs(joined[i]! - value) < 1e-6, `${i}: ${joined[i]} instead of ${value}`);
        });
      }),
    );
  });

  it('an arm turned by half a turn about the vertical sees the other in front where it is behind', () => {
    const own: Placement = { xyzM: [0, 0, 0], rpyRad: [0, 0, Math.PI] };
    const { xyzM } = placedRelative(own, { xyzM: [1, 0, 0.5], rpyRad: [0, 0, 0] });
    assert.deepEqual(
      xyzM.map((m) => Math.round(m * 1e6) / 1e6 + 0),
      [-1, 0, 0.5],
    );
  });
});
