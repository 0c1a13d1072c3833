import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JointLimits } from './limits.ts';
import { STEP_S } from './path-runner.ts';
import { Smoother } from './smoother.ts';
import { TargetJudge } from './target-judge.test.bench.ts';

const limits: JointLimits = {
  minRad: Float64Array.of(-1e3, -1e3),
  maxRad: Float64Array.of(1e3, 1e3),
  velocityRadS: Float64Array.of(2, 6),
  accelerationRadS2: Float64Array.of(10, 20),
  jerkRadS3: Float64Array.of(500, 400),
};
const judgeOf = () =>
  new TargetJudge(
    [0, 1].map((i) => ({
      minRad: limits.minRad[i]!,
      maxRad: limits.maxRad[i]!,
      maxVelocityRadS: limits.velocityRadS[i]!,
      maxAccelerationRadS2: limits.accelerationRadS2[i]!,
      maxJerkRadS3: limits.jerkRadS3[i]!,
    })),
  );

/** Positions, velocities and accelerations at a share of the present step. */
const at = (smoother: Smoother, share: number) => {
  const motion = new Float64Array(6);
  smoother.share = share;
  smoother.look(motion);
  return motion;
};

describe('the smoother', () => {
  it('keeps velocity, acceleration and jerk for any raw motion within velocity and acceleration, at any times', () => {
    const push = fc.record({
      shares: fc.tuple(
        fc.constantFrom(-1, -0.6, 0, 0.3, 1, 1, -1),
        fc.constantFrom(-1, -0.6, 0, 0.3, 1, 1, -1),
      ),
      steps: fc.integer({ min: 1, max: 30 }),
      looks: fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(push, { maxLength: 25 }), (pushes) => {
        const smoother = new Smoother(limits);
        const judge = judgeOf();
        const raw = Float64Array.of(0.3, -0.7);
        const speed = [0, 0];
        smoother.restart(raw);
        judge.wrote(0, raw);
        let steps = 0;
        for (const { shares, steps: count, looks } of pushes)
          for (let n = 0; n < count; n++) {
            for (let i = 0; i < 2; i++) {
              const faster = speed[i]! + shares[i]! * limits.accelerationRadS2[i]! * STEP_S;
              const most = limits.velocityRadS[i]!;
              speed[i] = Math.max(-most, Math.min(most, faster));
              raw[i]! += speed[i]! * STEP_S;
            }
            smoother.push(raw);
            steps++;
            for (const look of [...looks].sort((a, b) => a - b)) {
              const motion = at(smoother, look / 1001);
              judge.wrote((steps + look / 1001) * STEP_S * 1e9, motion.subarray(0, 2));
              for (let i = 0; i < 2; i++) {
                assert.ok(Math.abs(motion[2 + i]!) <= limits.velocityRadS[i]! + 1e-9);
                assert.ok(Math.abs(motion[4 + i]!) <= limits.accelerationRadS2[i]! + 1e-6);
              }
            }
          }
      }),
      { numRuns: 150 },
    );
  });

  it('states its delay: a steady motion comes out that much later', () => {
    const smoother = new Smoother(limits);
    const raw = new Float64Array(2);
    smoother.restart(raw);
    for (let n = 1; n <= 100; n++) {
      raw[0] = n * 0.004;
      smoother.push(raw);
    }
    const behindS = ((raw[0]! - at(smoother, 0)[0]!) / 0.004) * STEP_S;
    assert.ok(Math.abs(behindS - smoother.delayS) < 1e-9, `${behindS} s`);
  });

  it('rests exactly where the raw positions rest, without rounding, for ever', () => {
    fc.assert(
      fc.property(fc.double({ min: -3, max: 3, noNaN: true }), (rad) => {
        const smoother = new Smoother(limits);
        smoother.restart(Float64Array.of(rad, rad / 3));
        const expect = [rad, rad / 3, 0, 0, 0, 0].map((x) => x + 0);
        for (let n = 0; n < 1100; n++) smoother.push(Float64Array.of(rad, rad / 3));
        assert.deepEqual(
          [...at(smoother, 0.4)].map((x) => x + 0),
          expect,
        );
        smoother.push(Float64Array.of(rad + 1e-3, rad / 3));
        for (let n = 0; n < 60; n++) smoother.push(Float64Array.of(rad, rad / 3));
        assert.deepEqual(
          [...at(smoother, 0.4)].map((x) => x + 0),
          expect,
        );
      }),
      { numRuns: 50 },
    );
  });
});
