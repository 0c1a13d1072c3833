import { z } from 'zod';
import { CAN_NAME } from '../../buses/open-can.ts';

const control = z.enum(['joint', 'pose'], {
  error: ({ input }) =>
    input === 'mit'
      ? 'MIT mode is not offered: it can damage the arm (docs/drivers/piper.md)'
      : 'choose joint or pose',
});

export const piperConfig = z.strictObject({
  bus: z
    .string()
    .regex(CAN_NAME, 'write socketcan:can0 or slcan:/dev/ttyACM0')
    .default('socketcan:can0')
    .describe('CAN bus of the arm: socketcan:NAME or slcan:PATH'),
  control: control
    .default('joint')
    .describe('joint: joint angles; pose: flange poses, which the arm solves itself'),
  speedPercent: z
    .int()
    .min(1)
    .max(100)
    .default(25)
    .describe('share of the arm’s top speed, 3 rad/s per joint'),
  gripperStrokeM: z
    .number()
    .min(0.01)
    .max(0.1)
    .default(0.07)
    .describe('distance between the fingers when open'),
  gripperTorqueNm: z.number().min(0).max(5).default(1).describe('torque limit of the gripper'),
  firmware: z
    .enum(['query', 'new', 'old'])
    .default('query')
    .describe('joint zero positions: query the arm’s firmware, or assume new (1.6-3 and later) or old'),
  feedbackTimeoutMs: z
    .number()
    .min(20)
    .max(1000)
    .default(200)
    .describe('no joint angles for this long is a fault'),
});
export type PiperConfig = z.infer<typeof piperConfig>;
