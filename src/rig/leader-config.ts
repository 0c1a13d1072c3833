import { z } from 'zod';

/** What the motors of a leader arm do. Off by default: its joints move freely. */
export const leaderConfig = z.strictObject({
  forceGain: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('reflected torque: N·m on a leader’s joint per N·m from outside on the robot’s; 0: none'),
  gravityGain: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('share of its own weight that the leader’s motors carry; 0: none'),
  maxTorquePercent: z
    .number()
    .min(1)
    .max(80)
    .default(40)
    .describe('most torque of a leader’s motor, in percent of what its maker states'),
});
