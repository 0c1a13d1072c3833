import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SEED } from '../../test/seed.ts';
import { PassiveForce } from './passive-force.ts';

const JOINT = { maxNm: 0.1, stepRad: 0.0015 };
const DT_S = 0.005;

describe('a passive force', () => {
  it('gives no more than it has taken, but for one cycle, whatever is requested', () => {
    // A joint that is moved at will, with bounded acceleration, against any requested torque.
    const cycles = fc.array(
      fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: -50, max: 50, noNaN: true })),
      { minLength: 50, maxLength: 400 },
    );
    fc.assert(
      fc.property(cycles, (all) => {
        const force = new PassiveForce([JOINT]);
        const [q, wanted, out] = [new Float64Array(1), new Float64Array(1), new Float64Array(1)];
        let [speed, takenJ, top] = [0, 0, 0];
        for (const [wantedNm, accelerationRadS2] of all) {
          wanted[0] = wantedNm;
          force.next(q, DT_S, wanted, out);
          assert.ok(Math.abs(out[0]!) <= JOINT.maxNm);
          speed = Math.max(-3, Math.min(3, speed + accelerationRadS2 * DT_S));
          q[0]! += speed * DT_S;
          takenJ -= out[0]! * speed * DT_S;
          top = Math.max(top, Math.abs(speed));
          // The filter of the speed lags by three cycles: a reversal is noticed after that.
          assert.ok(takenJ > -4 * JOINT.maxNm * top * DT_S - 1e-12, `${takenJ} J`);
        }
      }),
      { seed: SEED },
    );
  });

  it('lets a slow press and release feel like the wall: a spring gives back what it took', () => {
    const force = new PassiveForce([JOINT]);
    const [q, wanted, out] = [new Float64Array(1), new Float64Array(1), new Float64Array(1)];
    let worst = 0;
    for (let t = 0; t < 400; t++) {
      q[0] = 0.05 * Math.sin((Math.PI * t) / 400);
      wanted[0] = -1.2 * q[0]!;
      force.next(q, DT_S, wanted, out);
      worst = Math.max(worst, Math.abs(out[0]! - wanted[0]!));
    }
    assert.ok(worst < 0.006, `${worst} N·m`);
  });

  it('requested NaN never reaches a motor', () => {
    const force = new PassiveForce([JOINT]);
    const out = new Float64Array(1);
    force.next(new Float64Array(1), DT_S, Float64Array.of(Number.NaN), out);
    assert.ok(Number.isFinite(out[0]));
  });
});
