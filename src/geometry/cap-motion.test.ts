import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { capDeflection, moveByCap } from './cap-motion.ts';

const FULL = 350;
const deflectionOf = (counts: readonly number[]) => {
  const out = new Float64Array(6);
  const isDeflected = capDeflection(counts, FULL, 0.1, out);
  return { isDeflected, out: [...out].map((value) => value + 0) };
};

describe('motion of a six-axis cap', () => {
  it('moves right, up and back where the cap is pushed right, pulled up and pulled back', () => {
    assert.deepEqual(deflectionOf([FULL, 0, 0, 0, 0, 0]).out, [1, 0, 0, 0, 0, 0]);
    assert.deepEqual(deflectionOf([0, 0, -FULL, 0, 0, 0]).out, [0, 1, 0, 0, 0, 0]);
    assert.deepEqual(deflectionOf([0, FULL, 0, 0, 0, 0]).out, [0, 0, 1, 0, 0, 0]);
    assert.deepEqual(deflectionOf([0, 0, 0, 0, 0, -FULL]).out, [0, 0, 0, 0, 1, 0]);
  });

  it('rests inside the dead zone, is continuous at its edge and never exceeds full', () => {
    assert.equal(deflectionOf([34, -34, 34, -34, 34, -34]).isDeflected, false);
    assert.ok(deflectionOf([36, 0, 0, 0, 0, 0]).out[0]! < 1e-4);
    assert.equal(deflectionOf([5000, 0, 0, 0, 0, 0]).out[0], 1);
  });

  it('turns at the given rate and keeps the quaternion at length 1', () => {
    const [positionM, quatXyzw] = [
      [0, 0, 0],
      [0, 0, 0, 1],
    ];
    for (let i = 0; i < 100; i++) moveByCap([0, 0, 0, 0, 1, 0], 0, 0.01, positionM, quatXyzw);
    assert.ok(Math.abs(2 * Math.atan2(quatXyzw[1]!, quatXyzw[3]!) - 1) < 1e-9);
    assert.ok(Math.abs(Math.hypot(...quatXyzw) - 1) < 1e-12);
    assert.deepEqual(positionM, [0, 0, 0]);
  });
});
