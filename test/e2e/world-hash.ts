import { createHash } from 'node:crypto';
import { loadModel } from '../../src/rig/robot-models.ts';
import { loadMujoco } from '../../src/world/mujoco.ts';
import { runExpert } from '../../src/world/run-episode.ts';
import { taskNamed } from '../../src/world/task-list.ts';
import { WorkWorld } from '../../src/world/work-world.ts';

/** Hash of all positions and velocities after the expert has done a seed. */
export async function stateHash({ task, seed }: { task: string; seed: number }): Promise<string> {
  const world = new WorkWorld(await loadMujoco(), loadModel('ur3'), taskNamed(task));
  runExpert(world, seed, world.reach.ready());
  const { qpos, qvel } = world.physics;
  return createHash('sha256')
    .update(Buffer.from(Float64Array.from(qpos).buffer))
    .update(Buffer.from(Float64Array.from(qvel).buffer))
    .digest('hex');
}
