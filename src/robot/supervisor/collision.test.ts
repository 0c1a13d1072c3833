import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Surroundings, spreadPose } from '../../geometry/pairings.ts';
import { sixJoints } from './arm.test.bench.ts';
import { createClearanceField } from './collision.ts';

const EMPTY: Surroundings = { groundZM: null, obstacles: [], workspace: null };
const SHELF = { name: 'shelf', minM: [0.3, -0.5, 0.4], maxM: [0.6, 0.5, 0.45] };
const AROUND: Surroundings = {
  groundZM: 0,
  obstacles: [SHELF],
  workspace: { minM: [-0.4, -0.4, 0.05], maxM: [0.4, 0.4, 0.6] },
};
const pose = fc.tuple(
  ...sixJoints.joints.map(({ minRad, maxRad }) => fc.double({ min: minRad, max: maxRad, noNaN: true })),
);

function clearances(around: Surroundings, qRad: readonly number[]): Map<string, number> {
  const field = createClearanceField(sixJoints, around);
  const outM = new Float64Array(field.size);
  field.measure(qRad, outM);
  return new Map(field.names.map((name, k) => [name, outM[k]!]));
}

describe('clearances of an arm', () => {
  it('exclude adjacent links, pairs that may touch, and pairs that no motion changes', () => {
    const names = createClearanceField(sixJoints, AROUND).names;
    for (const name of [
      'forearm ↔ base',
      'gripper ↔ upper arm',
      'gripper ↔ ground',
      'hand ↔ shelf',
      'workspace +z',
    ])
      assert.ok(names.includes(name), name);
    // The last one turns about the vertical without coming closer.
    for (const name of [
      'shoulder ↔ base',
      'gripper ↔ wrist',
      'base ↔ ground',
      'upper arm ↔ shoulder',
      'shoulder ↔ ground',
    ])
      assert.ok(!names.includes(name), name);
    assert.equal(createClearanceField({ ...sixJoints, capsules: [] }, EMPTY).size, 0);
  });

  it('match clearances computed by hand', () => {
    // The forearm lies level, the hand points down: its lowest point is the tip of the gripper.
    const found = clearances(AROUND, sixJoints.homeRad);
    const flangeZM = 0.1519 + 0.24365 - 0.08535;
    assert.ok(Math.abs(found.get('workspace −z')! - (flangeZM - 0.05 - 0)) < 0.09);
    assert.ok(found.get('gripper ↔ ground')! > 0.05);
    const upright = [0, -Math.PI / 2, 0, -Math.PI / 2, 0, 0];
    // Straight up: the elbow is 0.24 m above the shoulder, the forearm's axis begins there.
    assert.ok(
      Math.abs(clearances(EMPTY, upright).get('forearm ↔ base')! - (0.1519 + 0.24365 - 0.1 - 0.065 - 0.045)) <
        0.02,
    );
  });

  it('change no faster than their declared bounds', () => {
    const field = createClearanceField(sixJoints, AROUND);
    const [before, after] = [new Float64Array(field.size), new Float64Array(field.size)];
    fc.assert(
      fc.property(pose, pose, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, share) => {
        const near = a.map((rad, i) => rad + share * (b[i]! - rad) * 0.2);
        field.measure(a, before);
        field.measure(near, after);
        for (let k = 0; k < field.size; k++) {
          const row = field.reachM.subarray(6 * k, 6 * k + 6);
          const most = near.reduce((sum, rad, i) => sum + row[i]! * Math.abs(rad - a[i]!), 0);
          // Far from obstacles, only a lower bound is computed.
          if (field.names[k]!.endsWith('shelf') && Math.max(after[k]!, before[k]!) > 0.2) continue;
          assert.ok(Math.abs(after[k]! - before[k]!) <= most + 1e-9, field.names[k]);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('reject a capsule in a frame that does not exist', () => {
    const capsules = [{ ...sixJoints.capsules[0]!, frame: 7 }];
    assert.throws(() => createClearanceField({ ...sixJoints, capsules }, EMPTY), /unknown frame 7/);
  });

  it('are sampled at poses spread over the joint ranges', () => {
    for (let n = 1; n < 100; n++)
      spreadPose(sixJoints, n).forEach((rad, i) => {
        assert.ok(rad >= sixJoints.joints[i]!.minRad && rad <= sixJoints.joints[i]!.maxRad);
      });
  });
});
