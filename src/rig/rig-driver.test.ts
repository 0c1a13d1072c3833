import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadRig, rigNames } from './rig.ts';

describe('robot.driver=sim', () => {
  for (const name of rigNames())
    it(`works on rig ${name}: options of its driver are ignored, with a note`, () => {
      const { config, notes } = loadRig(name, ['robot.driver=sim', 'robot.options.seed=3']);
      const own = loadRig(name, []).config.robot;
      assert.deepEqual(
        config.robot.options,
        own.driver === 'sim' ? { ...own.options, seed: 3 } : { seed: 3 },
      );
      const isForeign = own.driver !== 'sim' && Object.keys(own.options).length > 0;
      assert.equal(notes.length, isForeign ? 1 : 0);
    });

  it('keeps the options when the driver stays the same', () => {
    const { config, notes } = loadRig('ur3', ['robot.driver=ur']);
    assert.deepEqual(config.robot.options, loadRig('ur3', []).config.robot.options);
    assert.deepEqual(notes, []);
  });
});
