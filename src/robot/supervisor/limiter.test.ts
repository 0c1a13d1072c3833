import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { robotModelSchema } from '../../core/robot-model.ts';
import { TargetLimiter } from './limiter.ts';

const JOINT = { name: 'j', minRad: -2, maxRad: 3, maxVelocityRadS: 2, maxAccelerationRadS2: 10 };
const dh = { aM: 0, dM: 0, alphaRad: 0 };
const model = robotModelSchema.parse({
  name: 'two',
  title: 'two joints',
  family: 'ur',
  homeRad: [0, 0.5],
  gripper: true,
  joints: [
    { ...JOINT, dh },
    { ...JOINT, name: 'k', maxVelocityRadS: 6, maxAccelerationRadS2: 20, dh },
  ],
});
const MAX_STEP_S = 0.05;
const MS = 1e6;

function started(speed = 1, atRad: readonly number[] = [0, 0]): TargetLimiter {
  const limiter = new TargetLimiter(model, speed);
  limiter.restart(Float64Array.from(atRad), 0);
  return limiter;
}

const angles = (min: number, max: number) =>
  fc.float64Array({ minLength: 2, maxLength: 2, min, max, noNaN: true });
const pauseMs = fc.double({ min: 0, max: 200, noNaN: true });

describe('leading the target', () => {
  it('begins at the home pose, and at the measured one when it is restarted', () => {
    const limiter = new TargetLimiter(model, 1);
    assert.deepEqual([...limiter.targetRad], [0, 0.5]);
    const measured = Float64Array.of(1, 2);
    limiter.restart(measured, 0);
    measured.fill(99);
    assert.deepEqual([...limiter.targetRad], [1, 2]);
    assert.deepEqual([...limiter.goalRad], [1, 2]);
  });

  it('clamps a goal into the joint range and says so', () => {
    const limiter = started();
    assert.equal(limiter.aim(Float64Array.of(-2, 3)), false);
    assert.equal(limiter.aim(Float64Array.of(-2.1, 0)), true);
    assert.equal(limiter.aim(Float64Array.of(0, 50)), true);
    assert.deepEqual([...limiter.goalRad], [0, 3]);
  });

  it('moves each joint at its own limit and says when it is still short of the goal', () => {
    const limiter = started();
    limiter.aim(Float64Array.of(1, 0.05));
    assert.equal(limiter.follow(10 * MS), true);
    assert.ok(Math.abs(limiter.targetRad[0]! - 0.02) < 1e-12);
    assert.ok(Math.abs(limiter.targetRad[1]! - 0.05) < 1e-12);
    for (let ms = 20; ms < 500; ms += 10) assert.equal(limiter.follow(ms * MS), true);
    assert.equal(limiter.follow(500 * MS), false);
    assert.deepEqual([...limiter.targetRad], [1, 0.05]);
  });

  it('goes slower where the rig says so', () => {
    const limiter = started(0.25);
    limiter.aim(Float64Array.of(1, 0));
    limiter.follow(10 * MS);
    assert.ok(Math.abs(limiter.targetRad[0]! - 0.005) < 1e-12);
  });

  it('does not make up for a pause in one jump, nor for a clock that stands or falls', () => {
    const limiter = started();
    limiter.aim(Float64Array.of(3, 0));
    limiter.follow(10_000 * MS);
    assert.ok(Math.abs(limiter.targetRad[0]! - 2 * MAX_STEP_S) < 1e-12);
    const before = limiter.targetRad[0];
    limiter.follow(10_000 * MS);
    limiter.follow(9_000 * MS);
    assert.equal(limiter.targetRad[0], before);
  });

  it('never leaves range or speed, for any goals at any times', () => {
    const step = fc.record({ goal: angles(-20, 20), pauseMs, settle: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), angles(-2, 3), (steps, start) => {
        const limiter = started(0.5, [...start]);
        let nowMs = 0;
        for (const { goal, pauseMs: pause, settle } of steps) {
          nowMs += pause;
          const before = limiter.targetRad.slice();
          if (!settle) limiter.aim(goal);
          goal.fill(Number.NaN);
          if (settle) limiter.settle(nowMs * MS);
          else limiter.follow(nowMs * MS);
          const dtS = Math.min(MAX_STEP_S, pause / 1000);
          model.joints.forEach(({ maxVelocityRadS }, i) => {
            const moved = Math.abs(limiter.targetRad[i]! - before[i]!);
            assert.ok(moved <= maxVelocityRadS * 0.5 * dtS + 1e-9, `moved ${moved} in ${dtS} s`);
            assert.ok(limiter.targetRad[i]! >= -2 && limiter.targetRad[i]! <= 3);
          });
        }
      }),
    );
  });

  it('brings a joint found outside its range in, at limited speed, and never farther out', () => {
    const step = fc.record({ goal: angles(-20, 20), settle: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.double({ min: 3, max: 4, noNaN: true }),
        (steps, at) => {
          const limiter = started(1, [at, 0]);
          steps.forEach(({ goal, settle }, i) => {
            const before = limiter.targetRad[0]!;
            if (!settle) limiter.aim(goal);
            if (settle) limiter.settle((i + 1) * 5 * MS);
            else limiter.follow((i + 1) * 5 * MS);
            const after = limiter.targetRad[0]!;
            assert.ok(Math.abs(after - before) <= 2 * 0.005 + 1e-9);
            assert.ok(after <= Math.max(3, before));
          });
        },
      ),
    );
  });
});

describe('coming to rest', () => {
  /** A target that runs at the limit of joint 0 until 200 ms. */
  function running(): TargetLimiter {
    const limiter = started();
    limiter.aim(Float64Array.of(3, 0));
    for (let ms = 5; ms <= 200; ms += 5) limiter.follow(ms * MS);
    return limiter;
  }

  it('slows down at the acceleration limit and then stands', () => {
    const limiter = running();
    const fromRad = limiter.targetRad[0]!;
    let last = fromRad;
    let lastSpeed = 2;
    let cycles = 0;
    for (let ms = 205; cycles < 200; ms += 5, cycles++) {
      const moving = limiter.settle(ms * MS);
      const speed = (limiter.targetRad[0]! - last) / 0.005;
      assert.ok(speed >= 0 && speed <= lastSpeed + 1e-9);
      assert.ok(lastSpeed - speed <= 10 * 0.005 + 1e-9);
      last = limiter.targetRad[0]!;
      lastSpeed = speed;
      if (!moving) break;
    }
    // v / a = 0.2 s, v² / 2a = 0.2 rad.
    assert.ok(cycles <= 41, `${cycles} cycles`);
    assert.ok(last - fromRad <= 0.2 && last - fromRad > 0.15);
    assert.equal(limiter.settle(3000 * MS), false);
    assert.equal(limiter.targetRad[0], last);
    assert.equal(limiter.goalRad[0], last);
  });

  it('does not set a target in motion again that has stood still', () => {
    const limiter = started();
    limiter.aim(Float64Array.of(0.01, 0));
    assert.equal(limiter.follow(5 * MS), false);
    // No command for 100 ms: the target has been at its goal all the while.
    assert.equal(limiter.settle(105 * MS), false);
    assert.equal(limiter.targetRad[0], 0.01);
  });

  it('stops at the end of the range', () => {
    const limiter = started(1, [2.99, 0]);
    limiter.aim(Float64Array.of(3, 0));
    limiter.follow(5 * MS);
    for (let ms = 10; ms < 500; ms += 5) {
      limiter.settle(ms * MS);
      assert.ok(limiter.targetRad[0]! <= 3);
    }
  });
});
