import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { armRigs } from './arms.ts';
import { loadRig, rigNames } from './rig.ts';

describe('robot.driver=sim', () => {
  for (const name of rigNames())
    it(`works on rig ${name}: options of its driver are ignored, with a note`, () => {
      const { config, notes } = loadRig(name, ['robot.driver=sim', 'robot.options.seed=3']);
      const own = armRigs(loadRig(name, []).config);
      armRigs(config).forEach(({ rig: { robot } }, i) => {
        const was = own[i]!.rig.robot;
        assert.equal(robot.driver, 'sim');
        assert.deepEqual(robot.options, was.driver === 'sim' ? { ...was.options, seed: 3 } : { seed: 3 });
      });
      const isForeign = own.some(
        ({ rig: { robot } }) => robot.driver !== 'sim' && Object.keys(robot.options).length > 0,
      );
      assert.equal(notes.length, isForeign ? 1 : 0);
    });

  it('keeps the options when the driver stays the same', () => {
    const { config, notes } = loadRig('ur3', ['robot.driver=ur']);
    assert.deepEqual(config.robot.options, loadRig('ur3', []).config.robot.options);
    assert.deepEqual(notes, []);
  });
});
