import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { createChain } from '../../geometry/chain.ts';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { ArmPose } from './arm-pose.ts';
import { WristBranch } from './wrist-branch.ts';

const load = (name: string): RobotModel =>
  robotModelSchema.parse(parse(readFileSync(`robots/${name}.yaml`, 'utf8')));

/** The wrist's branch in a pose, where the tool has the wanted rotation. */
function branchIn(model: RobotModel): (qRad: readonly number[]) => WristBranch {
  const wrist = new WristBranch(model);
  const pose = new ArmPose(model);
  const at = model.joints.length * 12;
  return (qRad) => {
    pose.set(qRad);
    const { frames } = pose;
    const wanted = Float64Array.from({ length: 9 }, (_, i) => frames[at + 4 * Math.floor(i / 3) + (i % 3)]!);
    wrist.engage(qRad);
    wrist.update(pose, Float64Array.from(qRad), wanted);
    return wrist;
  };
}

/** The smallest singular direction of the wrist's three axes: their triple product. */
function tripleProduct(model: RobotModel, qRad: readonly number[]): number {
  const chain = createChain(model);
  const n = chain.joints;
  const jacobian = new Float64Array(6 * n);
  chain.jacobian(Float64Array.from(qRad), jacobian, new Float64Array(12));
  const [a, b, c] = [n - 3, n - 2, n - 1].map((j) =>
    [3, 4, 5].map((row) => jacobian[row * n + j]!),
  ) as number[][];
  return (
    a![0]! * (b![1]! * c![2]! - b![2]! * c![1]!) +
    a![1]! * (b![2]! * c![0]! - b![0]! * c![2]!) +
    a![2]! * (b![0]! * c![1]! - b![1]! * c![0]!)
  );
}

describe('the wrist’s branch', () => {
  for (const name of ['piper', 'ur3', 'xarm6', 'dk1', 'openarm'])
    it(`of ${name}: is singular where its three axes lie in a plane, and nowhere else`, () => {
      const model = load(name);
      const branch = branchIn(model);
      const middle = model.joints.length - 2;
      const { minRad, maxRad } = model.joints[middle]!;
      let [seen, singular] = [0, 0];
      for (let n = 0; n <= 300; n++) {
        const q = [...model.homeRad];
        q[middle] = minRad + (n / 300) * (maxRad - minRad);
        const isFlat = Math.abs(tripleProduct(model, q)) < 0.02;
        const { nearRad } = branch(q);
        if (isFlat) {
          singular++;
          assert.ok(nearRad < 0.05, `at ${q[middle]}: ${nearRad} rad`);
        }
        if (nearRad < 0.01) {
          seen++;
          assert.ok(Math.abs(tripleProduct(model, q)) < 0.03, `${q[middle]}`);
        }
      }
      assert.equal(seen > 0, singular > 0);
    });

  it('is narrow where the first wrist joint cannot turn all the way round', () => {
    assert.equal(new WristBranch(load('piper')).isNarrow, true);
    assert.equal(new WristBranch(load('ur3')).isNarrow, false);
  });

  it('takes a wide wrist through the singularity and back, a narrow one stays on its side', () => {
    // A first joint from which both sides are in range.
    for (const [name, isWide, firstRad] of [
      ['ur3', true, -1],
      ['xarm6', true, -1],
      ['piper', false, 1.6],
    ] as const) {
      const model = load(name);
      const [wrist, pose] = [new WristBranch(model), new ArmPose(model)];
      const [flange, middle] = [model.joints.length * 12, model.joints.length - 2];
      // Both sides of the pose where the axes align, with the first wrist joint where it was.
      const [here, beyond] = [-0.2, 0.2].map((off) =>
        [...model.homeRad].with(middle, off).with(middle - 1, firstRad),
      );
      pose.set(beyond!);
      const wanted = Float64Array.from(
        { length: 9 },
        (_, i) => pose.frames[flange + 4 * Math.floor(i / 3) + (i % 3)]!,
      );
      wrist.engage(here!);
      pose.set(beyond!);
      wrist.update(pose, Float64Array.from(beyond!), wanted);
      assert.equal(Math.abs(wrist.pullRad) < 1e-6, isWide, `${name}: ${wrist.pullRad} rad`);
    }
  });

  it('asks for nothing where the wrist already has the wanted rotation', () => {
    for (const name of ['piper', 'ur3', 'xarm6', 'dk1']) {
      const model = load(name);
      const branch = branchIn(model);
      const middle = model.joints.length - 2;
      for (const off of [-0.3, -0.2, -0.1, 0.1, 0.2, 0.3])
        for (let n = 0; n < 40; n++) {
          const q = [...model.homeRad];
          const { minRad, maxRad } = model.joints[middle]!;
          q[middle] = Math.max(minRad, Math.min(maxRad, minRad + (n / 40) * (maxRad - minRad) + off));
          const { weight, pullRad, nearRad } = branch(q);
          if (weight > 0)
            assert.ok(Math.abs(pullRad) < 1e-6 || nearRad < 1e-6, `${name} at ${q[middle]}: ${pullRad} rad`);
        }
    }
  });
});
