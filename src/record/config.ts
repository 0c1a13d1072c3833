import { z } from 'zod';

/** `record` of a rig. */
export const recordConfig = z.strictObject({
  dir: z.string().min(1).default('recordings').describe('folder of the recordings'),
  task: z.string().max(400).default('').describe('what is being done, in words; goes into every episode'),
  start: z
    .enum(['asked', 'engage'])
    .default('asked')
    .describe('when an episode begins: when asked, or whenever the robot starts to follow'),
  staleMs: z
    .number()
    .min(1)
    .max(10_000)
    .default(150)
    .describe('a frame older than this at a row’s instant is kept and flagged'),
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
    .describe('recording ends, and is saved, when the disk has less free; 0: at the last byte'),
  limits: z
    .string()
    .default('')
    .describe('YAML file of limits; an episode that does not keep them goes to the folder refused/'),
});
