import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { roomOf } from './clearance.ts';
import { HandScript } from './hand-script.ts';
import { simulate } from './run-rig.ts';
import { add, armOf, pose, times } from './screw-kinematics.ts';

/** An arm that hangs beside its body, and one that stands on its table. */
const RIGS = ['vlai-l1', 'piper'];
/** From the lowest part of the arm at home to the table. */
const DROP_M = 0.025;

/** By kinematics of the evaluator's own. */
function lowestZM(rig: string): number {
  const model = loadModel(loadRig(rig, []).config.model);
  const { frames } = pose(armOf(model), model.homeRad);
  const heights = model.capsules
    .filter(({ frame }) => frame > 0)
    .flatMap(({ frame, fromM, toM, radiusM }) =>
      [fromM, toM].map((end) => add(frames[frame]!.p, times(frames[frame]!.r, end))[2]! - radiusM),
    );
  return Math.min(...heights);
}

describe('an arm over a table, by the evaluator’s own kinematics and distances', () => {
  for (const rig of RIGS)
    it(`no part of ${rig} comes closer than its margin, from home to the end of a press and a slide`, async () => {
      const overrides = [`robot.groundZM=${lowestZM(rig) - DROP_M}`, 'robot.speedPercent=100'];
      const { config } = loadRig(rig, overrides);
      const model = loadModel(config.model);
      const script = new HandScript(config.operator.mapper.scale);
      script.moveTo([0, 0, -0.4], 1.2, 0.3);
      script.moveTo([0.03, 0.1, -0.4], 0.7, 0.3);
      const cycles = await simulate({ name: rig, rig, overrides }, [], script.samples);
      const room = roomOf(model, armOf(model), { ...config.robot, workspace: null });
      const rooms = cycles.filter((_, n) => n % 4 === 0).map(({ targetRad }) => room(targetRad));
      assert.ok(Math.min(...rooms) > -1e-4, `${1e3 * Math.min(...rooms)} mm`);
      assert.ok(rooms[0]! > 0.4 * DROP_M, 'it starts clear of the table');
      assert.ok(Math.min(...rooms) < 5e-3, 'it was pressed on the table');
    });

  it('a table that reaches into the arm at home is rejected', async () => {
    const overrides = [`robot.groundZM=${lowestZM('vlai-l1') + 0.03}`];
    const running = simulate({ name: 'vlai-l1', rig: 'vlai-l1', overrides }, [], []);
    await assert.rejects(running, /in the home pose, fingers ↔ ground overlap by 30 mm/);
  });
});
