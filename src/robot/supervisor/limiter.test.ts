import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { robotModelSchema } from '../../geometry/robot-model.ts';
import { createClearanceField } from './collision.ts';
import { MotionGuard } from './guard.ts';
import { TargetLimiter } from './limiter.ts';
import { type JointLimits, jointLimits } from './limits.ts';
import { supervisorConfig } from './supervisor-config.ts';
import { TargetJudge } from './target-judge.test.bench.ts';

const JOINT = { name: 'j', minRad: -2, maxRad: 3, maxVelocityRadS: 2, maxAccelerationRadS2: 10 };
const dh = { aM: 0, dM: 0, alphaRad: 0 };
const model = robotModelSchema.parse({
  name: 'two',
  title: 'two joints',
  family: 'ur',
  homeRad: [0, 0.5],
  joints: [
    { ...JOINT, dh },
    { ...JOINT, name: 'k', maxVelocityRadS: 6, maxAccelerationRadS2: 20, maxJerkRadS3: 400, dh },
  ],
});
const MS = 1e6;

function started(options: object = {}, atRad: readonly number[] = [0, 0]): [TargetLimiter, JointLimits] {
  const config = supervisorConfig.parse(options);
  const limits = jointLimits(model, config);
  const field = createClearanceField(model, { groundZM: null, obstacles: [], workspace: null });
  const guard = new MotionGuard(field, limits, config);
  const settings = {
    singularityMargin: 0,
    singularityShare: 1,
    extrapolate: config.extrapolate,
    maxLagS: config.maxLagS,
  };
  const limiter = new TargetLimiter(limits, guard, () => 1, settings);
  limiter.restart(Float64Array.from(atRad), 0);
  return [limiter, limits];
}

const angles = (min: number, max: number) =>
  fc.float64Array({ minLength: 2, maxLength: 2, min, max, noNaN: true });
const pauseMs = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 0.2, 5, 5, 5, 10) },
  { weight: 1, arbitrary: fc.integer({ min: -20_000, max: 200_000 }).map((us) => us / 1000) },
);

/** Asserts that the motion after a step is reachable from the one before within the limits. */
function assertInside(limiter: TargetLimiter, limits: JointLimits, before: number[][], dtS: number): void {
  const now = [limiter.targetRad, limiter.velocitiesRadS, limiter.accelerationsRadS2].map((x) => [...x]);
  for (let i = 0; i < 2; i++) {
    const [p, v, a] = now.map((x) => x[i]!) as [number, number, number];
    const [p0, v0, a0] = before.map((x) => x[i]!) as [number, number, number];
    const [maxV, maxA, maxJ] = [limits.velocityRadS[i]!, limits.accelerationRadS2[i]!, limits.jerkRadS3[i]!];
    assert.ok(Number.isFinite(p + v + a));
    assert.ok(Math.abs(v) <= maxV + 1e-9, `velocity ${v}`);
    assert.ok(Math.abs(a) <= maxA + 1e-9, `acceleration ${a}`);
    assert.ok(Math.abs(p - p0) <= maxV * dtS + 1e-6, `moved ${p - p0}`);
    assert.ok(Math.abs(v - v0) <= maxA * dtS + 1e-5, `from ${v0} to ${v} rad/s in ${dtS} s`);
    assert.ok(Math.abs(a - a0) <= maxJ * dtS + 1e-3, `from ${a0} to ${a} rad/s² in ${dtS} s`);
    assert.ok(p >= Math.min(limits.minRad[i]!, p0) && p <= Math.max(limits.maxRad[i]!, p0), `at ${p}`);
  }
}

const motionIn = (limiter: TargetLimiter) =>
  [limiter.targetRad, limiter.velocitiesRadS, limiter.accelerationsRadS2].map((x) => [...x]);

const judgeOf = (limits: JointLimits) =>
  new TargetJudge(
    Array.from(limits.minRad, (minRad, i) => ({
      minRad,
      maxRad: limits.maxRad[i]!,
      maxVelocityRadS: limits.velocityRadS[i]!,
      maxAccelerationRadS2: limits.accelerationRadS2[i]!,
      maxJerkRadS3: limits.jerkRadS3[i]!,
    })),
  );

describe('leading the target', () => {
  it('starts at rest at the given pose', () => {
    const [limiter] = started({}, [1, 2]);
    assert.deepEqual([...limiter.targetRad], [1, 2]);
    assert.deepEqual([...limiter.goalRad], [1, 2]);
    assert.equal(limiter.follow(5 * MS), false);
    assert.equal(limiter.settle(10 * MS), false);
    assert.deepEqual([...limiter.targetRad], [1, 2]);
  });

  it('clamps a goal into the joint range and reports it', () => {
    const [limiter] = started();
    assert.equal(limiter.aim(Float64Array.of(-2, 3), 0), false);
    assert.equal(limiter.aim(Float64Array.of(-2.1, 0), 1), true);
    assert.equal(limiter.aim(Float64Array.of(0, 50), 2), true);
    assert.deepEqual([...limiter.goalRad], [0, 3]);
  });

  for (const options of [{}, { speedPercent: 40, accelerationPercent: 30, jerkPercent: 20 }])
    it(`never exceeds a limit, for any goals at any times (${JSON.stringify(options)})`, () => {
      const step = fc.record({
        goal: angles(-8, 8),
        pauseMs,
        kind: fc.constantFrom('aim', 'aim', 'follow', 'follow', 'follow', 'resume', 'settle'),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 120 }), angles(-2.5, 3.5), (steps, start) => {
          const [limiter, limits] = started(options, [...start]);
          const judge = judgeOf(limits);
          judge.wrote(0, limiter.targetRad);
          let [nowMs, latestMs] = [0, 0];
          for (const { goal: given, pauseMs: pause, kind } of steps) {
            const goal = given.slice();
            nowMs += pause;
            const before = motionIn(limiter);
            if (kind === 'aim') limiter.aim(goal, nowMs * MS);
            if (kind === 'resume') limiter.resume(nowMs * MS);
            goal.fill(Number.NaN);
            if (kind === 'settle') limiter.settle(nowMs * MS);
            else limiter.follow(nowMs * MS);
            // A clock that stepped back stands still.
            const elapsedMs = Math.max(0, nowMs - latestMs);
            latestMs = Math.max(latestMs, nowMs);
            assertInside(limiter, limits, before, elapsedMs / 1000);
            judge.wrote(latestMs * MS, limiter.targetRad);
          }
        }),
        { numRuns: 400 },
      );
    });

  it('reaches a constant goal without oscillating', () => {
    fc.assert(
      fc.property(angles(-1.8, 2.8), fc.integer({ min: 20, max: 100 }), (goal, percent) => {
        const [limiter] = started({ jerkPercent: percent });
        limiter.aim(goal, 0);
        const farthest = [0, 0];
        let ms = 5;
        for (; limiter.follow(ms * MS) && ms < 20_000; ms += 5)
          for (let i = 0; i < 2; i++)
            farthest[i] = Math.max(farthest[i]!, (limiter.targetRad[i]! - goal[i]!) * Math.sign(goal[i]!));
        assert.ok(ms < 8000, `not there after ${ms} ms`);
        for (let i = 0; i < 2; i++) {
          assert.ok(farthest[i]! < 1e-3, `${farthest[i]} rad beyond`);
          assert.ok(Math.abs(limiter.targetRad[i]! - goal[i]!) < 1e-3, `ends at ${limiter.targetRad}`);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('does not jump after a pause, or when the clock stands still or steps back', () => {
    const [limiter] = started();
    limiter.aim(Float64Array.of(3, 0), 0);
    let ms = 5;
    for (; limiter.velocitiesRadS[0]! < 1.9 && ms < 2000; ms += 5) limiter.follow(ms * MS);
    assert.ok(ms < 2000, `${limiter.velocitiesRadS[0]} rad/s`);
    const from = limiter.targetRad[0]!;
    const speed = limiter.velocitiesRadS[0]!;
    limiter.follow(10_000 * MS);
    // Where braking leads, and at rest: v² / 2a + v a / 2j.
    const brakingRad = speed ** 2 / 20 + (speed * 0.01) / 2;
    assert.ok(limiter.targetRad[0]! - from < brakingRad + 0.012, `${limiter.targetRad[0]! - from} rad`);
    assert.ok(limiter.targetRad[0]! - from > 0.15, `${limiter.targetRad[0]! - from} rad`);
    assert.equal(limiter.velocitiesRadS[0], 0);
    const before = limiter.targetRad[0];
    limiter.follow(10_000 * MS);
    limiter.follow(9_000 * MS);
    assert.equal(limiter.targetRad[0], before);
  });

  it('stands still while the clock is behind, moving or not', () => {
    const [limiter] = started();
    for (let ms = 0; ms <= 300; ms += 5) {
      limiter.aim(Float64Array.of(0.001 * ms, -0.001 * ms), ms * MS);
      limiter.follow(ms * MS);
    }
    const at = [...limiter.targetRad];
    for (const ms of [299, 290, 200, 0, -1e6, 300]) {
      limiter.follow(ms * MS);
      limiter.targetRad.forEach((rad, i) => {
        assert.ok(Math.abs(rad - at[i]!) < 1e-9, `moved by ${rad - at[i]!} rad at ${ms} ms`);
      });
    }
  });
});

describe('following a stream', () => {
  /** A sine at 100 Hz, followed at 200 Hz; the largest distance from it, and the lag that explains it best. */
  function track(amplitudeRad: number, periodS: number, noiseRad = 0): { errorRad: number; lagMs: number } {
    const [limiter] = started();
    const omega = (2 * Math.PI) / periodS;
    const at = (s: number) => amplitudeRad * (1 - Math.cos(omega * s));
    let seed = 1;
    const noise = () => {
      seed = (seed * 48271) % 0x7fffffff;
      return noiseRad * (seed / 0x3fffffff - 1);
    };
    let errorRad = 0;
    let product = 0;
    let square = 0;
    for (let ms = 0; ms < 3000 * periodS; ms += 5) {
      if (ms % 10 === 0) limiter.aim(Float64Array.of(at(ms / 1000) + noise(), 0), ms * MS);
      limiter.follow(ms * MS);
      if (ms < 1000) continue;
      const error = at(ms / 1000) - limiter.targetRad[0]!;
      const speed = amplitudeRad * omega * Math.sin(omega * (ms / 1000));
      errorRad = Math.max(errorRad, Math.abs(error));
      product += error * speed;
      square += speed * speed;
    }
    return { errorRad, lagMs: (1000 * product) / square };
  }

  it('adds little lag at hand speeds: more, the more of the acceleration limit the hand uses', () => {
    for (const [amplitude, period, mostMs] of [
      [0.2, 4, 10],
      [0.3, 2, 30],
      [0.25, 1.25, 60],
    ] as const) {
      const { errorRad, lagMs } = track(amplitude, period);
      const fastest = (amplitude * 2 * Math.PI) / period;
      assert.ok(Math.abs(lagMs) < mostMs, `${lagMs} ms at ${fastest} rad/s`);
      assert.ok(errorRad < 0.002 + 0.0015 * mostMs * fastest, `${errorRad} rad at ${fastest} rad/s`);
    }
  });

  it('stays close to a slightly noisy stream', () => {
    const { errorRad } = track(0.2, 4, 0.0002);
    assert.ok(errorRad < 0.03, `${errorRad} rad`);
  });
});

describe('coming to rest', () => {
  it('brakes within the acceleration and jerk limits, then stays at rest', () => {
    const [limiter, limits] = started();
    limiter.aim(Float64Array.of(3, 0), 0);
    let ms = 5;
    for (; limiter.velocitiesRadS[0]! < 1.9 && ms < 2000; ms += 5) limiter.follow(ms * MS);
    assert.ok(ms < 2000, `${limiter.velocitiesRadS[0]} rad/s`);
    const fromRad = limiter.targetRad[0]!;
    const fromMs = ms;
    for (let before = motionIn(limiter); limiter.settle(ms * MS); before = motionIn(limiter), ms += 5)
      assertInside(limiter, limits, before, 0.005);
    // Braking: v/a + a/j = 0.21 s, v²/2a + va/2j = 0.21 rad; the smoothing adds its 50 ms, the path its reserve.
    assert.ok(ms - fromMs <= 330, `${ms - fromMs} ms`);
    const wayRad = limiter.targetRad[0]! - fromRad;
    assert.ok(wayRad < 0.33 && wayRad > 0.15, `${wayRad} rad`);
    const restRad = limiter.targetRad[0];
    assert.equal(limiter.settle(3000 * MS), false);
    assert.equal(limiter.targetRad[0], restRad);
  });
});
