import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { spreadPose } from '../../geometry/pairings.ts';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { ArmPose } from './arm-pose.ts';
import { distanceM, reachOf } from './reach.ts';

const load = (name: string): RobotModel =>
  robotModelSchema.parse(parse(readFileSync(`robots/${name}.yaml`, 'utf8')));

/** Kept below full stretch. */
const MARGIN_M = 0.007;
/** Elbow joints by the makers' drawings. */
const ELBOWS: Record<string, number> = { ur3: 2, piper: 2, xarm6: 2, openarm: 3 };

describe('the reach', () => {
  for (const [name, elbow] of Object.entries(ELBOWS))
    it(`of ${name} ends where joint ${elbow + 1} is straight, and no pose exceeds it`, () => {
      const model = load(name);
      const lead = model.family === 'ur' ? 3 : model.joints.length;
      const reach = reachOf(model, lead);
      assert.ok(reach !== null);
      assert.equal(reach.elbow, elbow);
      const pose = new ArmPose(model);
      const spanM = (q: readonly number[]) => {
        pose.set(q);
        return distanceM(pose, reach.shoulder, reach.wrist);
      };
      let longestM = 0;
      for (let n = 1; n <= 3000; n++) longestM = Math.max(longestM, spanM(spreadPose(model, n)));
      assert.ok(longestM < reach.mostM + MARGIN_M + 0.001, `${longestM} m, not ${reach.mostM} m`);
      const stretched = [...model.homeRad];
      stretched[reach.elbow] = reach.straightRad;
      assert.ok(Math.abs(spanM(stretched) - reach.mostM - MARGIN_M) < 1e-6);
      // Straight: bending either way shortens it, or the range ends there.
      for (const bend of [-0.1, 0.1]) {
        stretched[reach.elbow] = reach.straightRad + bend;
        assert.ok(spanM(stretched) < reach.mostM + MARGIN_M + 1e-9);
      }
    });

  it('of a UR3 is that of its two long links', () => {
    const { mostM } = reachOf(load('ur3'), 3)!;
    assert.ok(Math.abs(mostM + MARGIN_M - (0.24365 + 0.21325)) < 0.002, `${mostM}`);
  });
});
