import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { spreadPose } from '../../geometry/pairings.ts';
import { type RobotModel, robotModelSchema } from '../../geometry/robot-model.ts';
import { ArmPose } from './arm-pose.ts';
import { reachOf } from './reach.ts';
import { Shoulder } from './shoulder.ts';

const load = (name: string): RobotModel =>
  robotModelSchema.parse(parse(readFileSync(`robots/${name}.yaml`, 'utf8')));
const H_RAD = 1e-6;

describe('the shoulder', () => {
  for (const name of ['ur3', 'piper', 'xarm6', 'dk1'])
    it(`of ${name}: the room to the base’s axis changes with each joint as its gradient says`, () => {
      const model = load(name);
      const pose = new ArmPose(model);
      const lead = model.family === 'ur' ? 3 : model.joints.length;
      const shoulder = new Shoulder(model, pose, reachOf(model, lead)!.wrist);
      const roomM = (q: readonly number[]) => {
        pose.set(q);
        shoulder.measure();
        return shoulder.roomM;
      };
      pose.set(model.homeRad);
      shoulder.engage();
      assert.ok(shoulder.roomM > 0, 'at home the wrist is in front of the axis');
      const found = new Float64Array(model.joints.length);
      for (let n = 1; n <= 50; n++) {
        const q = spreadPose(model, n);
        roomM(q);
        shoulder.gradient(found, 0);
        const expected = q.map((_, i) => {
          const [up, down] = [1, -1].map((sign) => roomM(q.with(i, q[i]! + sign * H_RAD)));
          return (up! - down!) / (2 * H_RAD);
        });
        expected.forEach((value, i) => {
          assert.ok(Math.abs(value - found[i]!) < 1e-6, `joint ${i}: ${found[i]}, not ${value}`);
        });
      }
    });

  it('keeps its side while engaged, on whichever it began', () => {
    const model = load('piper');
    const pose = new ArmPose(model);
    const shoulder = new Shoulder(model, pose, reachOf(model, 6)!.wrist);
    const at = (liftRad: number) => {
      pose.set(model.homeRad.with(1, liftRad).with(2, -0.3));
      shoulder.measure();
      shoulder.damp(0.5);
      return shoulder.roomM;
    };
    for (const beginsRad of [1, 0]) {
      pose.set(model.homeRad.with(1, beginsRad).with(2, -0.3));
      shoulder.engage();
      const roomM = at(beginsRad);
      assert.ok(
        roomM > 0 && shoulder.leastM > 0 && shoulder.leastM < roomM,
        `${shoulder.leastM} of ${roomM} m`,
      );
      const beyondM = at(1 - beginsRad);
      assert.ok(beyondM < 0 && shoulder.leastM === beyondM, 'beyond the axis it only goes back');
    }
  });

  it('of an arm with a spare joint has no such limit', () => {
    const model = load('openarm');
    const pose = new ArmPose(model);
    const shoulder = new Shoulder(model, pose, reachOf(model, 7)!.wrist);
    pose.set(model.homeRad);
    shoulder.engage();
    assert.equal(shoulder.roomM, Number.POSITIVE_INFINITY);
  });
});
