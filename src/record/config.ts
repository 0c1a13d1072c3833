import { z } from 'zod';

/** `record` of a rig. */
export const recordConfig = z.strictObject({
  dir: z.string().min(1).default('recordings').describe('folder of the recordings'),
  task: z.string().max(400).default('').describe('task description, stored in every episode'),
  start: z
    .enum(['asked', 'engage'])
    .default('asked')
    .describe('when an episode starts: on request, or whenever the robot engages'),
  staleMs: z
    .number()
    .min(1)
    .max(10_000)
    .default(150)
    .describe('a frame older than this at the time of a row is kept and flagged'),
  missingMs: z
    .number()
    .min(1)
    .max(60_000)
    .default(1000)
    .describe('a frame older than this counts as missing: the row is skipped'),
  minFreeMb: z
    .number()
    .min(0)
    .default(50)
    .describe('recording stops and is saved when the disk has less free space; 0: when it is full'),
  limits: z
    .string()
    .default('')
    .describe('YAML file of quality limits; an episode that violates them goes to the folder refused/'),
});
