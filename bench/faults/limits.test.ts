import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { robotModelSchema } from '../../src/geometry/robot-model.ts';
import { type LimitSettings, limitShares, type Target } from './limits.ts';

const settings: LimitSettings = {
  speedPercent: 100,
  accelerationPercent: 100,
  jerkPercent: 100,
  feedbackTimeoutMs: 200,
};
const DH = { aM: 0, dM: 0, alphaRad: 0 };
const modelOf = (maxVelocityRadS: number, maxAccelerationRadS2: number, maxJerkRadS3: number) =>
  robotModelSchema.parse({
    ...{ name: 'one', title: 'one joint', family: 'ur', homeRad: [0], gripper: true },
    joints: [
      { name: 'a', minRad: -1e4, maxRad: 1e4, maxVelocityRadS, maxAccelerationRadS2, maxJerkRadS3, dh: DH },
    ],
  });
const at = (s: number, rad: number, fromRad: number | null = null): Target => ({
  atNs: s * 1e9,
  jointsRad: Float64Array.of(rad),
  fromRad: fromRad === null ? null : Float64Array.of(fromRad),
});

interface Knot {
  s: number;
  p: number;
  v: number;
  a: number;
  jerk: number;
}

/** Motion from rest in pieces of constant jerk, with its largest velocity and acceleration. */
function motionOf(pieces: readonly (readonly [jerk: number, s: number])[]) {
  const knots: Knot[] = [];
  let [s, p, v, a] = [0, 0, 0, 0];
  let [maxV, maxA] = [1e-3, 1e-3];
  for (const [jerk, d] of pieces) {
    knots.push({ s, p, v, a, jerk });
    const turnS = -a / jerk;
    if (turnS > 0 && turnS < d) maxV = Math.max(maxV, Math.abs(v + a * turnS + (jerk * turnS ** 2) / 2));
    p += v * d + (a * d ** 2) / 2 + (jerk * d ** 3) / 6;
    v += a * d + (jerk * d ** 2) / 2;
    a += jerk * d;
    s += d;
    maxV = Math.max(maxV, Math.abs(v));
    maxA = Math.max(maxA, Math.abs(a));
  }
  const position = (t: number) => {
    const knot = knots.findLast((each) => each.s <= t) ?? knots[0]!;
    const d = Math.max(0, t - knot.s);
    return knot.p + knot.v * d + (knot.a * d ** 2) / 2 + (knot.jerk * d ** 3) / 6;
  };
  return { endS: s, maxV, maxA, position };
}

describe('shares of the limits that targets take', () => {
  it('never exceed those of a motion from rest, at any sample times', () => {
    const jerk = fc.double({ min: -500, max: 500, noNaN: true }).filter((value) => Math.abs(value) > 1);
    const pieces = fc.array(fc.tuple(jerk, fc.double({ min: 0.002, max: 0.1, noNaN: true })), {
      minLength: 1,
      maxLength: 12,
    });
    const gaps = fc.array(fc.double({ min: 0.0001, max: 0.06, noNaN: true }), {
      minLength: 4,
      maxLength: 80,
    });
    fc.assert(
      fc.property(pieces, gaps, (made, gapsS) => {
        const { endS, maxV, maxA, position } = motionOf(made);
        const targets: Target[] = [at(0, 0, 0)];
        let s = 0;
        for (const gap of gapsS) {
          s += gap;
          if (s < endS) targets.push(at(s, position(s)));
        }
        const { velocity, acceleration, jerk } = limitShares(targets, modelOf(maxV, maxA, 500), settings);
        for (const share of [velocity, acceleration, jerk]) assert.ok(share <= 1 + 1e-4, `${share}`);
      }),
    );
  });

  const model = modelOf(3, 20, 1000);
  const standing = (fromS: number, toS: number, rad: number) =>
    Array.from({ length: Math.round((toS - fromS) / 0.005) }, (_, i) => at(fromS + 0.005 * i, rad));

  it('show a jump between two cycles, after a pause, and from the pose in which the joints were powered', () => {
    const leap = [...standing(0, 0.1, 1), ...standing(0.1, 0.2, 1.02)];
    assert.ok(limitShares(leap, model, settings).velocity > 1.3);
    const later = [...standing(0, 0.1, 1), ...standing(5, 5.1, 1.5)];
    assert.ok(limitShares(later, model, settings).acceleration > 1);
    const powered = [...standing(0, 0.1, 1), at(5, 1.02, 1), ...standing(5.005, 5.1, 1.02)];
    assert.ok(limitShares(powered, model, settings).jerk > 10);
  });

  it('count a target repeated at the same time once, and a different one at that time as a jump', () => {
    const twice = standing(0, 0.1, 1).flatMap((target) => [target, target]);
    assert.equal(limitShares(twice, model, settings).jerk, 0);
    assert.ok(limitShares([at(0, 1), at(0, 1.001)], model, settings).velocity > 100);
  });

  it('report how far outside its range a target was', () => {
    assert.equal(limitShares([at(0, 10_001)], model, settings).outsideRad, 1);
    assert.equal(limitShares([at(0, 1)], model, settings).outsideRad, 0);
  });
});
