import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { brake, ease, motionOf, restOffset, restTimeS } from './brake.ts';

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true });
/** Any velocity and acceleration a joint with these limits can have. */
const state = fc.record({
  maxA: number(0.5, 50),
  maxJ: number(5, 5000),
  velocity: number(-5, 5),
  share: number(-1, 1),
});

describe('braking one joint', () => {
  it('ends at rest at the predicted position, within both limits, for any number of steps', () => {
    const steps = fc.array(number(1e-4, 0.05), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(state, steps, ({ maxA, maxJ, velocity, share }, stepsS) => {
        const motion = motionOf(1);
        motion.set([0.3, velocity, share * maxA]);
        const restRad = 0.3 + restOffset(velocity, share * maxA, maxA, maxJ);
        const restS = restTimeS(velocity, share * maxA, maxA, maxJ);
        let s = 0;
        for (const dtS of stepsS) {
          const [, v, a] = [...motion] as [number, number, number];
          brake(motion, 0, maxA, maxJ, dtS);
          s += dtS;
          assert.ok(Math.abs(motion[2]!) <= maxA * (1 + 1e-9));
          assert.ok(Math.abs(motion[2]! - a) <= maxJ * dtS + 1e-6);
          assert.ok(Math.abs(motion[1]! - v) <= maxA * dtS + 1e-6);
        }
        if (s < restS + 1e-6) return;
        assert.deepEqual([motion[1], motion[2]], [0, 0]);
        assert.ok(Math.abs(motion[0]! - restRad) < 1e-6, `${motion[0]} instead of ${restRad}`);
      }),
    );
  });

  it('takes the least possible time from constant velocity', () => {
    // Full deceleration is reached: v/a + a/j.
    assert.ok(Math.abs(restTimeS(2, 0, 10, 1000) - 0.21) < 1e-12);
    assert.ok(Math.abs(restOffset(2, 0, 10, 1000) - 0.21) < 1e-12);
    // Full deceleration is not reached: 2 √(v/j).
    assert.ok(Math.abs(restTimeS(0.025, 0, 10, 1000) - 0.01) < 1e-12);
    assert.ok(Math.abs(restOffset(-0.025, 0, 10, 1000) + 0.025 * 0.005) < 1e-12);
  });

  it('ramps an acceleration to zero without changing the final velocity', () => {
    const motion = motionOf(1);
    motion.set([0, 1, 8]);
    ease(motion, 0, 1000, 0.02);
    assert.ok(Math.abs(motion[1]! - (1 + 64 / 2000)) < 1e-12);
    assert.equal(motion[2], 0);
  });
});
