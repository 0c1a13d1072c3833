import { z } from 'zod';
import { supervisorConfig } from './supervisor/supervisor-config.ts';

export const realtimePriority = z
  .int()
  .min(0)
  .max(80)
  .default(0)
  .describe('SCHED_FIFO priority of the control thread where permitted; 0 keeps normal scheduling');

/** The robot's part of a rig. */
export const robotConfig = z.strictObject({
  driver: z.string().default('sim').describe('driver: a folder in src/robot/drivers/'),
  options: z.record(z.string(), z.unknown()).default({}).describe('settings of the driver'),
  driverLog: z
    .string()
    .default('')
    .describe('file that gets every call of the driver, for trials (`npm run bench -- faults`); empty: none'),
  controlHz: z.number().min(50).max(1000).default(200).describe('control cycles per second'),
  stateHz: z.number().min(1).max(1000).default(100).describe('state messages per second'),
  playout: z
    .string()
    .default('adaptive')
    .describe('none, fixed:<ms>, or adaptive[:smooth|:fast][,cap=<ms>]; see docs/playout.md'),
  allowPlayoutChoice: z
    .boolean()
    .default(false)
    .describe('the operator may switch the way of playout while running, as in the demo'),
  network: z
    .string()
    .max(64)
    .default('')
    .describe(
      'name under which playout remembers the network; empty: by the operator’s address; none: not at all',
    ),
  allowTakeover: z
    .boolean()
    .default(false)
    .describe('a new operator may take control from one that still holds it'),
  realtimePriority: realtimePriority,
  ...supervisorConfig.shape,
});

export type RobotConfig = z.infer<typeof robotConfig>;
