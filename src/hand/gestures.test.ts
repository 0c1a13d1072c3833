import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFist, Pinch, pinchGapM } from './gestures.ts';

/** 25 joints; `curl` moves each fingertip from stretched (0) to the palm (1). */
function hand(curl: readonly number[]): Float64Array {
  const jointsM = new Float64Array(75);
  for (let i = 1; i <= 4; i++) jointsM.set([0.03 + 0.01 * i, 0, -0.03 * i], 3 * i);
  curl.forEach((share, finger) => {
    const x = 0.02 - 0.02 * finger;
    for (const [k, z] of [0.03, 0.09, 0.13, 0.155].entries())
      jointsM.set([x, 0, -z], 3 * (5 + 5 * finger + k));
    jointsM.set([x, -0.02 * share, -(0.175 - 0.105 * share)], 3 * (9 + 5 * finger));
  });
  return jointsM;
}

describe('gestures of a hand', () => {
  it('distinguishes a fist from an open hand, a pointing hand and garbage', () => {
    assert.equal(isFist(hand([1, 1, 1, 1])), true);
    assert.equal(isFist(hand([0, 0, 0, 0])), false);
    assert.equal(isFist(hand([0, 1, 1, 1])), false);
    assert.equal(isFist(hand([0.5, 0.5, 0.5, 0.5])), false);
    assert.equal(isFist(new Float64Array(75)), false);
    assert.equal(isFist(new Float64Array(75).fill(Number.NaN)), false);
  });

  it('measures the gap between thumb and index tip', () => {
    const jointsM = hand([0, 0, 0, 0]);
    jointsM.set(jointsM.subarray(27, 30), 12);
    jointsM[12]! += 0.02;
    assert.ok(Math.abs(pinchGapM(jointsM) - 0.02) < 1e-9);
  });

  it('closes and opens a pinch at different gaps', () => {
    const pinch = new Pinch(0.02, 0.035);
    assert.deepEqual(
      [0.05, 0.03, 0.019, 0.03, 0.034, 0.036, 0.03, Number.NaN].map((gap) => pinch.update(gap)),
      [false, false, true, true, true, false, false, false],
    );
  });
});
