import { z } from 'zod';
import { TASK_NAMES } from '../../../world/task-list.ts';

export const config = z.strictObject({
  task: z
    .enum(TASK_NAMES as [string, ...string[]])
    .default('sort')
    .describe('the task on the table; `farhand world list`'),
  seed: z.int().min(0).default(1).describe('where things start'),
  lagMs: z.number().min(5).max(200).default(40).describe('how far the arm follows behind its target'),
  gripForceN: z
    .number()
    .min(1)
    .max(20)
    .default(20)
    .describe('the gripper stops closing at this force: lower for a gentle grasp'),
  arm: z
    .enum(['', 'left', 'right'])
    .default('')
    .describe('of two arms in one world, the one that this is: rigs/world-two.yaml'),
  nextAfterS: z
    .number()
    .min(0)
    .max(60)
    .default(0)
    .describe('begins the next seed this long after success or the time limit; 0: waits for a request'),
});
export type WorldConfig = z.infer<typeof config>;
