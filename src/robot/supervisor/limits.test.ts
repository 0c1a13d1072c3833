import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { TeleopError } from '../../core/errors.ts';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { sixJoints } from './arm.test.bench.ts';
import { jointLimits, workspaceOf } from './limits.ts';
import { supervisorConfig } from './supervisor-config.ts';

const limitsOf = (options: object) => jointLimits(sixJoints, supervisorConfig.parse(options));
const rejects = (act: () => unknown, message: RegExp) =>
  assert.throws(act, (error: TeleopError) => error.code === 'bad-config' && message.test(error.message));

describe('limits of a rig', () => {
  it('can only lower those of the model', () => {
    const percent = fc.double({ min: 1, max: 100, noNaN: true });
    const end = fc.double({ min: -20, max: 20, noNaN: true });
    fc.assert(
      fc.property(percent, percent, percent, end, end, (speed, acceleration, jerk, minRad, maxRad) => {
        if (Math.max(minRad, -6.28) >= Math.min(maxRad, 6.28)) return;
        const limits = limitsOf({
          speedPercent: speed,
          accelerationPercent: acceleration,
          jerkPercent: jerk,
          jointRanges: { pan: { minRad, maxRad }, lift: { maxRad } },
        });
        sixJoints.joints.forEach((joint, i) => {
          assert.ok(limits.velocityRadS[i]! <= joint.maxVelocityRadS);
          assert.ok(limits.accelerationRadS2[i]! <= joint.maxAccelerationRadS2);
          assert.ok(limits.jerkRadS3[i]! <= joint.maxJerkRadS3);
          assert.ok(limits.minRad[i]! >= joint.minRad && limits.maxRad[i]! <= joint.maxRad);
        });
        assert.equal(limits.minRad[0], Math.max(-6.28, minRad));
      }),
    );
    for (const key of ['speedPercent', 'accelerationPercent', 'jerkPercent', 'engageSpeedPercent'])
      for (const value of [101, 0, -5, Number.NaN])
        assert.ok(!supervisorConfig.safeParse({ [key]: value }).success, `${key} ${value}`);
    // Not even an unparsed config can raise a limit.
    const forged = { ...supervisorConfig.parse({}), speedPercent: 400 };
    assert.equal(jointLimits(sixJoints, forged).velocityRadS[0], 3.14);
  });

  it('must name existing joints and leave each a range', () => {
    rejects(() => limitsOf({ jointRanges: { elbo: { minRad: 0 } } }), /no joint "elbo"/);
    rejects(
      () => limitsOf({ jointRanges: { elbow: { minRad: 2, maxRad: 1 } } }),
      /no room for joint "elbow"/,
    );
    rejects(() => limitsOf({ jointRanges: { elbow: { minRad: 4 } } }), /no room/);
  });

  it('shrink the workspace of the model, never widen it', () => {
    const box = (low: number, high: number) => ({ minM: [low, low, low], maxM: [high, high, high] });
    const model = (workspace?: object): RobotModel => robotModelSchema.parse({ ...sixJoints, workspace });
    const config = (workspace?: object) => supervisorConfig.parse({ workspace });
    assert.equal(workspaceOf(model(), config()), null);
    assert.deepEqual(workspaceOf(model(box(-1, 1)), config()), box(-1, 1));
    assert.deepEqual(workspaceOf(model(), config(box(-1, 1))), box(-1, 1));
    assert.deepEqual(workspaceOf(model(box(-1, 1)), config(box(0, 5))), box(0, 1));
    rejects(() => workspaceOf(model(box(-1, 1)), config(box(2, 3))), /does not overlap/);
  });
});
