import { z } from 'zod';

/** Standard (distal) Denavit–Hartenberg row: T = Rz(θ) Tz(d) Tx(a) Rx(α). */
const dhRow = z.strictObject({
  aM: z.number().describe('link length'),
  dM: z.number().describe('link offset'),
  alphaRad: z.number().describe('link twist'),
});

const joint = z.strictObject({
  name: z.string(),
  minRad: z.number(),
  maxRad: z.number(),
  maxVelocityRadS: z.number().positive(),
  maxAccelerationRadS2: z.number().positive(),
  dh: dhRow,
});

/** A robot as data. Its limits are ceilings: a rig may lower them, never raise them. */
export const robotModelSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  family: z.enum(['ur']).describe('selects the closed-form solver'),
  joints: z.array(joint).min(1),
  homeRad: z.array(z.number()).describe('resting pose, one angle per joint'),
  gripper: z.boolean().default(true),
});

export type RobotModel = z.infer<typeof robotModelSchema>;
export type JointModel = RobotModel['joints'][number];
