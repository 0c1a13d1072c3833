import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WORLD_STATE } from '../../src/messages/world-state.ts';
import { SimulatedRig } from '../loops/simulated-rig.ts';
import { needsPackage } from '../needs.ts';

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
