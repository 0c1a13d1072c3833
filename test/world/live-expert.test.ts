import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import expert from '../../src/input/devices/expert.ts';
import { emptyHandSample } from '../../src/messages/hand-sample.ts';
import { WORLD_STATE } from '../../src/messages/world-state.ts';
import { SimulatedRig } from '../loops/simulated-rig.ts';
import { needsPackage } from '../needs.ts';

describe('the expert’s hand', () => {
  it('stays where it is when the robot no longer reports its world', () => {
    const input = expert.open(expert.config.parse({}), 0);
    const world = WORLD_STATE.create();
    world.bodies = 4;
    for (let i = 0; i < world.bodies; i++) world.poses.set([0.3, 0.06 * i, 0.02, 1, 0, 0, 0], 7 * i);
    world.gripM.set([0.3, -0.2, 0.12]);
    const sample = emptyHandSample();
    const placesAfter = [1, 2.5, 4].map((endS, i) => {
      for (let ms = 1000 * [0, 1, 2.5][i]!; ms < 1000 * endS; ms += 5) {
        if (endS === 1) input.see!(world, 'sort');
        input.sample(ms * 1e6, sample);
      }
      return [...sample.positionM];
    });
    assert.notDeepEqual(placesAfter[1], placesAfter[0], 'a short silence does not stop it');
    assert.deepEqual(placesAfter[2], placesAfter[1]);
  });
});

const missing = await needsPackage('@mujoco/mujoco');

describe('a task over the whole path', { skip: missing, timeout: 120_000 }, () => {
  for (const task of ['sort', 'peg'])
    it(`${task}: from the expert's hand through mapping, link, playout and supervisor to the things`, async () => {
      const rig = await SimulatedRig.create({
        rigFile: 'world',
        overrides: [`robot.options.task=${task}`, 'robot.options.seed=100003', 'robot.options.nextAfterS=0'],
      });
      const seen = WORLD_STATE.create();
      const port = rig.robot.driver.world!;
      rig.runUntil(() => {
        port.read(seen);
        return seen.outcome !== 'running';
      }, 61_000);
      assert.equal(seen.outcome, 'done', `score ${seen.score} after ${seen.elapsedS} s`);
      assert.deepEqual(
        rig.robot.transitions.map(({ to }) => to).filter((to) => to === 'hold' || to === 'stopped'),
        [],
      );
    });
});
