import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HAND_SHAPES, type HandShapeName, mixShapes, shapeHand } from './model-hand.ts';
import { checkHand, HAND_NUMBERS, spanM, spreadHandPoints, takeHandPoints } from './points.ts';

const names = Object.keys(HAND_SHAPES) as HandShapeName[];
const anyShape = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...names), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([a, b, share]) => mixShapes(HAND_SHAPES[a], HAND_SHAPES[b], share));
const shaped = (
  shape: (typeof HAND_SHAPES)[HandShapeName] | ReturnType<typeof mixShapes>,
  isLeft = false,
  pitchRad = 0.3,
) => {
  const out = new Float64Array(HAND_NUMBERS).fill(Number.NaN);
  shapeHand(shape, { positionM: [0.1, 1.2, -0.4], pitchRad }, isLeft, out);
  return out;
};

describe('the model hand', () => {
  it('is valid, and its bones keep their lengths', () => {
    const open = shaped(HAND_SHAPES.open);
    fc.assert(
      fc.property(anyShape, (shape) => {
        const hand = shaped(shape);
        assert.equal(checkHand(hand), null);
        for (let i = 1; i < 21; i++) {
          const from = i % 4 === 1 ? 0 : i - 1;
          assert.ok(Math.abs(spanM(hand, from, i) - spanM(open, from, i)) < 1e-9, `bone to ${i}`);
        }
      }),
    );
  });

  it('has its wrist at the given position, and points down with the pitch', () => {
    const hand = shaped(HAND_SHAPES.open, false, 0.5);
    assert.deepEqual([...hand.subarray(0, 3)], [0.1, 1.2, -0.4]);
    assert.ok(hand[3 * 9 + 1]! < 1.2 - 0.04);
  });

  it('brings the tips together in a pinch', () => {
    for (const [finger, name] of (['pinch', 'pinch-middle', 'pinch-ring', 'pinch-pinky'] as const).entries())
      assert.ok(spanM(shaped(HAND_SHAPES[name]), 4, 8 + 4 * finger) < 0.005, name);
    assert.ok(spanM(shaped(HAND_SHAPES.open), 4, 8) > 0.05);
  });

  it('survives conversion to the other point sets and back', () => {
    const hand = shaped(HAND_SHAPES.fist);
    for (const count of [21, 24, 25, 26])
      for (const frame of ['rh', 'unity'] as const) {
        const sent = new Float64Array(3 * count).fill(Number.NaN);
        spreadHandPoints(hand, count, frame, sent);
        assert.ok(sent.every(Number.isFinite), `${count}`);
        const back = new Float64Array(HAND_NUMBERS);
        assert.equal(takeHandPoints(sent, count, frame, back), null);
        assert.deepEqual(back, hand);
      }
  });
});
