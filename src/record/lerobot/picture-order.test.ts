import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { xorshift } from '../../../test/xorshift.ts';
import { findMisplaced } from './picture-order.ts';

const CELLS = 16;

/** A slow scene: an arm that sways changes a cell by a few levels. `moving` 0: nothing moves. */
const scene = (count: number, moving: number, phase: number): number[][] =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: CELLS }, (_, cell) => 90 + 5 * cell + moving * Math.sin(i / 18 + cell / 3 + phase)),
  );
const stored = (cells: readonly number[][]): number[][] => cells.map((row) => row.map(Math.round));
/** What a codec does to brightness: an offset of its own in each cell, and a little noise. */
function encoded(cells: readonly number[][], seed: number): number[][] {
  const random = xorshift(seed);
  return cells.map((row) => row.map((value, cell) => value + (cell % 3) - 1 + 0.4 * (random() - 0.5)));
}

describe('the order of pictures', () => {
  it('is not doubted where they are as recorded, however little or much moves', () => {
    const counts = fc.integer({ min: 5, max: 320 });
    fc.assert(
      fc.property(
        counts,
        fc.double({ min: 0, max: 40, noNaN: true }),
        fc.integer({ min: 1 }),
        (count, moving, seed) => {
          const cells = scene(count, moving, 0);
          assert.equal(findMisplaced(encoded(cells, seed), stored(cells)), null);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is found wrong where pictures are late, early, backwards or of another episode', () => {
    const cells = scene(300, 4, 0);
    const late = (by: number) => cells.map((_, i) => cells[Math.max(0, Math.min(299, i - by))]!);
    for (const by of [-5, -2, 2, 5])
      assert.equal(findMisplaced(encoded(late(by), 1), stored(cells))?.lag, by);
    // A picture is missing in the middle.
    const missing = [...cells.slice(0, 120), ...cells.slice(122), cells[299]!, cells[299]!];
    assert.equal(findMisplaced(encoded(missing, 2), stored(cells))?.lag, -2);
    assert.ok(findMisplaced(encoded([...cells].reverse(), 3), stored(cells)) !== null);
    assert.ok(findMisplaced(encoded(scene(300, 4, 2), 4), stored(cells)) !== null);
  });
});
