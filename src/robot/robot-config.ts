import { z } from 'zod';
import { supervisorConfig } from './supervisor/supervisor-config.ts';
import { topicConfig } from './topic-config.ts';

export const realtimePriority = z
  .int()
  .min(0)
  .max(80)
  .default(0)
  .describe('SCHED_FIFO priority of the control thread, if permitted; 0: normal scheduling');

/** `robot.gripper` of an arm that carries none of the grippers. */
export const NO_GRIPPER = 'none';

/** The robot's part of a rig. */
export const robotConfig = z.strictObject({
  driver: z.string().default('sim').describe('driver: a folder in src/robot/drivers/'),
  options: z.record(z.string(), z.unknown()).default({}).describe('the driver’s settings'),
  gripper: z
    .string()
    .default(NO_GRIPPER)
    .describe(
      'gripper the arm carries: a folder in src/robot/grippers/; none: the driver’s own, if it has one',
    ),
  gripperOptions: z.record(z.string(), z.unknown()).default({}).describe('the gripper’s settings'),
  driverLog: z
    .string()
    .default('')
    .describe('log file of all driver calls, for trials (`npm run bench -- faults`); empty: no log'),
  freeMotion: z
    .strictObject({
      file: z
        .string()
        .nullable()
        .default(null)
        .describe(
          'what the arm’s drives need in free motion, so that anything beyond it is felt; null: not used',
        ),
      learnS: z
        .number()
        .min(0)
        .max(3600)
        .default(0)
        .describe(
          'learns it from this much slow motion in free space, and writes the file; 0: uses the file',
        ),
    })
    .prefault({})
    .describe('torque from outside for a driver that reports only efforts'),
  controlHz: z.number().min(50).max(1000).default(200).describe('control cycles per second'),
  stateHz: z.number().min(1).max(1000).default(100).describe('state messages per second'),
  playout: z
    .string()
    .default('adaptive')
    .describe('none, fixed:<ms>, or adaptive[:smooth|:fast][,cap=<ms>]; see docs/playout.md'),
  allowPlayoutChoice: z
    .boolean()
    .default(false)
    .describe('the operator may switch the playout mode at run time, as in the demo'),
  network: z
    .string()
    .max(64)
    .default('')
    .describe(
      'name under which playout remembers the network; empty: the operator’s subnet; none: not remembered',
    ),
  maxOutageHoldS: z
    .number()
    .min(0)
    .max(60)
    .default(5)
    .describe(
      'longest time for which an operator may let the robot hold through an outage; 0: it always stops',
    ),
  allowTakeover: z.boolean().default(false).describe('a new operator may take control from the current one'),
  realtimePriority: realtimePriority,
  topics: topicConfig
    .nullable()
    .default(null)
    .describe('the robot as a ROS 2 node: commands in, joint states out; null: none'),
  ...supervisorConfig.shape,
});

export type RobotConfig = z.infer<typeof robotConfig>;
