import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { robotModelSchema } from '../geometry/robot-model.ts';
import { createJointPath } from './joint-path.ts';

const model = robotModelSchema.parse(parse(readFileSync('robots/ur3.yaml', 'utf8')));
const poses = fc
  .tuple(...model.joints.map(({ minRad, maxRad }) => fc.double({ min: minRad, max: maxRad, noNaN: true })))
  .map((q) => Float64Array.from(q));

test('from rest to rest, within speed and acceleration limits, and never past either end', () => {
  const stepNs = 1e7;
  fc.assert(
    fc.property(poses, poses, fc.double({ min: 0.05, max: 1, noNaN: true }), (from, to, speedRadS) => {
      const path = createJointPath(model, to, { speedRadS, speedFraction: 0.2 });
      path.begin(from, 5e9);
      const now = new Float64Array(6);
      const before = from.slice();
      const speeds = new Float64Array(6);
      path.at(5e9, now);
      assert.ok(now.every((rad, j) => rad === from[j]));
      for (let i = 1, done = false; !done; i++) {
        assert.ok(i < 100_000);
        done = path.at(5e9 + i * stepNs, now);
        for (let j = 0; j < 6; j++) {
          const joint = model.joints[j]!;
          const speed = (now[j]! - before[j]!) / (stepNs / 1e9);
          assert.ok(Math.abs(speed) <= Math.min(speedRadS, 0.2 * joint.maxVelocityRadS) + 1e-9);
          assert.ok(Math.abs(speed - speeds[j]!) / (stepNs / 1e9) <= joint.maxAccelerationRadS2 / 2 + 1e-6);
          assert.ok(now[j]! >= Math.min(from[j]!, to[j]!) - 1e-9);
          assert.ok(now[j]! <= Math.max(from[j]!, to[j]!) + 1e-9);
          speeds[j] = speed;
        }
        before.set(now);
      }
      assert.ok(now.every((rad, j) => rad === to[j]));
      assert.ok(
        speeds.every((speed) => Math.abs(speed) < 0.05),
        'arrives slowly',
      );
    }),
    { numRuns: 100 },
  );
});

test('half a radian at 0.25 rad/s takes 15/8 of two seconds, and is halfway at half the time', () => {
  const to = Float64Array.from([0.5, 0, 0, 0, 0, 0]);
  const path = createJointPath(model, to, { speedRadS: 0.25, speedFraction: 1 });
  path.begin([0, 0, 0, 0, 0, 0], 0);
  assert.equal(path.durationNs, 3.75e9);
  const out = new Float64Array(6);
  assert.equal(path.at(1.875e9, out), false);
  assert.ok(Math.abs(out[0]! - 0.25) < 1e-12);
});

test('zero distance takes zero time', () => {
  const path = createJointPath(model, model.homeRad, { speedRadS: 0.25, speedFraction: 1 });
  path.begin(model.homeRad, 0);
  assert.equal(path.at(0, new Float64Array(6)), true);
});
