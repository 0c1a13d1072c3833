import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { loadModel } from '../../src/rig/robot-models.ts';
import { loadMujoco, type Mujoco } from '../../src/world/mujoco.ts';
import { runExpert } from '../../src/world/run-episode.ts';
import { TASKS } from '../../src/world/task-list.ts';
import { WorkWorld } from '../../src/world/work-world.ts';
import { needsPackage } from '../needs.ts';

const missing = await needsPackage('@mujoco/mujoco');
const SEED = 100_000;

describe('scenes of the virtual Bento arm', { skip: missing, timeout: 120_000 }, () => {
  let mujoco: Mujoco;
  before(async () => {
    mujoco = await loadMujoco();
  });

  it('are six, in the order of brachIOplexus', () => {
    const found = TASKS.filter(({ name }) => name.startsWith('bento')).map(({ title }) => title);
    assert.deepEqual(found, [
      ...['Basic Movement', 'Slam Dunk', 'Don’t Spill', '1up Ball Cup'],
      ...['Bento Block Stacking', 'Cup Stacking'],
    ]);
  });

  for (const task of TASKS.filter(({ name }) => name.startsWith('bento')))
    it(`${task.name}: things stay where they are, nothing is done at rest, and the expert, if any, succeeds`, () => {
      const world = new WorkWorld(mujoco, loadModel('ur3'), task);
      const readyRad = world.reach.ready();
      world.reset(SEED, readyRad);
      const names = task.bodies().map(({ name }) => name);
      const before = names.map((name) => world.see(name));
      for (let i = 0; i < 2000; i++) world.step();
      names.forEach((name, i) => {
        const { xM, yM, zM } = world.see(name);
        const { xM: x, yM: y, zM: z } = before[i]!;
        assert.ok(Math.hypot(xM - x, yM - y, zM - z) < 0.003, `${name} moved`);
      });
      assert.ok(world.progress.score < 1, 'done before it began');
      const episode = runExpert(world, SEED, readyRad);
      assert.ok(episode.success, JSON.stringify(episode));
      world.physics.dispose();
    });
});
