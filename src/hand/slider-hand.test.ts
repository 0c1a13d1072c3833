import assert from 'node:assert/strict';
import { it } from 'node:test';
import { checkHand, HAND_NUMBERS } from './points.ts';
import { SliderHand } from './slider-hand.ts';

it('every setting of the sliders is a hand, and each slider moves only its own fingers', () => {
  const hand = new SliderHand();
  const [at, other] = [new Float64Array(HAND_NUMBERS), new Float64Array(HAND_NUMBERS)];
  const tip = (points: Float64Array, i: number) => [...points.subarray(3 * i, 3 * i + 3)];
  for (let closed = 0; closed <= 1; closed += 0.25)
    for (let crossed = 0; crossed <= 1; crossed += 0.25) {
      hand.fill(closed, crossed, at);
      assert.equal(checkHand(at), null);
      hand.fill(closed, 0, other);
      assert.deepEqual(tip(at, 20), tip(other, 20));
      hand.fill(0, crossed, other);
      assert.deepEqual(tip(at, 4), tip(other, 4));
    }
});
