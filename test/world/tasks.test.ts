import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { loadModel } from '../../src/rig/robot-models.ts';
import { loadMujoco, type Mujoco } from '../../src/world/mujoco.ts';
import { runExpert } from '../../src/world/run-episode.ts';
import { TASKS, taskNamed, usualModel } from '../../src/world/task-list.ts';
import { WorkWorld } from '../../src/world/work-world.ts';
import { needsPackage } from '../needs.ts';

const missing = await needsPackage('@mujoco/mujoco');
const SEED = 100_000;

describe('tasks', { skip: missing, timeout: 120_000 }, () => {
  let mujoco: Mujoco;
  before(async () => {
    mujoco = await loadMujoco();
  });

  // The others: bento-tasks.realtime.test.ts.
  for (const task of TASKS.filter(({ name }) => !name.startsWith('bento'))) {
    it(`${task.name}: the expert succeeds, and a hand at rest does not`, () => {
      const world = new WorkWorld(mujoco, loadModel(usualModel(task)), task);
      const readyRad = world.reach.ready();
      world.reset(SEED, readyRad);
      for (let i = 0; i < 1000; i++) world.step();
      assert.ok(world.progress.score < 1, 'done before it began');
      const episode = runExpert(world, SEED, readyRad);
      assert.ok(episode.success, JSON.stringify(episode));
      assert.ok(episode.timeS < task.limitS);
      world.physics.dispose();
    });
  }
  it('a seed gives the same start and the same end, whatever was done before', () => {
    const task = taskNamed('peg');
    const ends = [1, 2].map((earlier) => {
      const world = new WorkWorld(mujoco, loadModel('ur3'), task);
      const readyRad = world.reach.ready();
      runExpert(world, SEED + earlier, readyRad);
      const middle = runExpert(world, SEED, readyRad);
      const state = [...world.physics.qpos, ...world.physics.qvel];
      world.physics.dispose();
      return { middle, state };
    });
    assert.deepEqual(ends[0], ends[1]);
  });
});
