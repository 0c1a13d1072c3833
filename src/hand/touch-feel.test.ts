import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TouchFeel, touchNm } from './touch-feel.ts';

describe('touch', () => {
  it('gives no pulse in free motion, nor while a weight is only held', () => {
    const feel = new TouchFeel();
    for (let ms = 0; ms < 5000; ms += 10) assert.equal(feel.step(0, ms), null);
    assert.ok(feel.step(0.6, 5000), 'lifting it is felt');
    for (let ms = 5010; ms < 9000; ms += 10) assert.equal(feel.step(0.6 + 0.05 * Math.sin(ms), ms), null);
  });

  it('is stronger for more force, and between 0 and 1', () => {
    const strength = (nm: number) => new TouchFeel().step(nm, 0)?.strength ?? 0;
    fc.assert(
      fc.property(
        fc.double({ min: 0.2, max: 500, noNaN: true }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        (nm, more) => {
          assert.ok(strength(nm) > 0 && strength(nm) <= 1);
          assert.ok(strength(nm + more) >= strength(nm));
        },
      ),
    );
  });

  it('never queues: pulses are no closer than 40 ms, except the end of a contact', () => {
    const torques = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(torques, (values) => {
        const feel = new TouchFeel();
        let lastMs = Number.NEGATIVE_INFINITY;
        values.forEach((nm, i) => {
          const pulse = feel.step(nm, i * 8);
          if (pulse === null) return;
          assert.ok(nm < 0.12 || i * 8 - lastMs >= 40);
          lastMs = i * 8;
        });
      }),
    );
  });

  it('is unknown where the driver does not know it', () => {
    assert.equal(touchNm(null), null);
    assert.equal(touchNm([0.1, -2, 1]), 2);
    assert.equal(new TouchFeel().step(null, 0), null);
    assert.equal(new TouchFeel().step(Number.NaN, 0), null);
  });
});
