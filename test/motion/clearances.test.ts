import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { type RobotModel, robotModelSchema } from '../../src/geometry/robot-model.ts';
import { ArmPose } from '../../src/mapping/guide/arm-pose.ts';
import { Clearances } from '../../src/mapping/guide/clearances.ts';
import { createClearanceField } from '../../src/robot/supervisor/collision.ts';

const load = (name: string): RobotModel =>
  robotModelSchema.parse(parse(readFileSync(`robots/${name}.yaml`, 'utf8')));
const AROUND = {
  groundZM: 0,
  neighbour: null,
  obstacles: [{ name: 'shelf', minM: [0.2, 0.3, 0.1], maxM: [0.5, 0.5, 0.4] }],
  stopM: 0.01,
  workspace: { minM: [-0.6, -0.6, 0.05], maxM: [0.6, 0.6, 0.9] },
  guidedBox: { minM: [-0.5, -0.5, 0.1], maxM: [0.5, 0.5, 0.8] },
} as const;
const around = structuredClone(AROUND) as unknown as ConstructorParameters<typeof Clearances>[3];
const H_RAD = 1e-6;
/** Clearances above this need not be exact. */
const NEAR_M = 0.2;

const poses = ({ joints }: RobotModel) =>
  fc
    .tuple(...joints.map(() => fc.integer({ min: 0, max: 1000 })))
    .map((shares) => joints.map(({ minRad, maxRad }, i) => minRad + (shares[i]! / 1000) * (maxRad - minRad)));

for (const name of ['piper', 'ur3', 'openarm'])
  describe(`clearances of ${name}`, () => {
    const model = load(name);
    const pose = new ArmPose(model);
    const clearances = new Clearances(model, pose, model.joints.length, around);
    const at = (q: ArrayLike<number>) => {
      pose.set(q);
      pose.placeCapsules();
      clearances.measure();
      return clearances.nowM.slice();
    };

    it('change with each joint as their gradients say', () => {
      let compared = 0;
      const own = new Float64Array(model.joints.length);
      fc.assert(
        fc.property(poses(model), (q) => {
          const nowM = at(q);
          const gradients = Array.from(nowM, (_, k) => {
            clearances.gradient(k, own, 0);
            return own.slice();
          });
          model.joints.forEach((_, i) => {
            const moved = (sign: number) => at(q.map((rad, k) => rad + (k === i ? sign * H_RAD : 0)));
            const [up, down] = [moved(1), moved(-1)];
            for (let k = 0; k < nowM.length; k++) {
              const [right, left] = [(up[k]! - nowM[k]!) / H_RAD, (nowM[k]! - down[k]!) / H_RAD];
              // Far away; a kink, where the nearest points jump; inside, where no direction leads away.
              if (nowM[k]! > NEAR_M || Math.abs(right - left) > 1e-3 || nowM[k]! < 0) continue;
              const found = gradients[k]![i]!;
              compared++;
              assert.ok(
                Math.abs(found - (right + left) / 2) < 2e-3,
                `${clearances.names[k]}, joint ${i}: ${found}, not ${right}`,
              );
            }
          });
        }),
        { numRuns: 40 },
      );
      assert.ok(compared > 1000, `${compared}`);
    });

    it('are those that the robot’s own guard measures, where they are small', () => {
      const field = createClearanceField(model, around);
      const guardM = new Float64Array(field.size);
      const shared = clearances.names.flatMap((each, k) => {
        const n = field.names.indexOf(each);
        return n < 0 ? [] : [[k, n] as const];
      });
      assert.equal(shared.length, field.size, 'all that the robot guards');
      fc.assert(
        fc.property(poses(model), (q) => {
          const nowM = at(q);
          field.measure(q, guardM);
          for (const [k, n] of shared)
            assert.ok(
              Math.abs(nowM[k]! - guardM[n]!) < 2e-4 || Math.min(nowM[k]!, guardM[n]!) > NEAR_M,
              `${field.names[n]}: ${nowM[k]} m, ${guardM[n]} m`,
            );
        }),
        { numRuns: 100 },
      );
    });
  });
