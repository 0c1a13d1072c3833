import { z } from 'zod';
import { boxSchema } from '../../geometry/robot-model.ts';

const percent = (fallback: number) => z.number().min(1).max(100).default(fallback);
const length = z.number().min(0).max(1);

const obstacle = z
  .strictObject({ name: z.string().min(1).max(40), ...boxSchema.shape })
  .refine(
    ({ minM, maxM }) => minM.every((low, i) => low < maxM[i]!),
    'minM must lie below maxM on every axis',
  );

const triple = z.tuple([z.number(), z.number(), z.number()]);

/** The other arm of two that work side by side, driven by another robot process on this machine. */
const pairConfig = z.strictObject({
  model: z.string().describe('robot model of the other arm'),
  port: z.int().min(1).max(65535).describe('UDP port of this process, on loopback'),
  otherPort: z.int().min(1).max(65535).describe('UDP port of the other arm’s process'),
  baseXyzM: triple.default([0, 0, 0]).describe('where the other arm’s base is, in this one’s base frame'),
  baseRpyRad: triple.default([0, 0, 0]).describe('how it is turned'),
  sharedBase: z.boolean().default(false).describe('both models are of one body and have the same base frame'),
  marginM: z
    .number()
    .min(0.02)
    .max(0.5)
    .default(0.08)
    .describe('added to the other arm’s size: it moves while its pose is on its way'),
  silenceMs: z
    .number()
    .min(20)
    .max(500)
    .default(100)
    .describe('no pose of the other arm younger than this: hold'),
});

/** Limits of the supervisor. The model has the ceilings: whatever stands here can only lower them. */
export const supervisorConfig = z.strictObject({
  speedPercent: percent(100).describe('share of the model’s joint velocity limits'),
  accelerationPercent: percent(100).describe('share of the model’s joint acceleration limits'),
  jerkPercent: percent(100).describe('share of the model’s joint jerk limits; less of it follows later'),
  engageSpeedPercent: percent(25).describe(
    'share of the velocity limits at first after engaging, until the arm has caught up with the hand',
  ),
  jointRanges: z
    .record(z.string(), z.strictObject({ minRad: z.number().optional(), maxRad: z.number().optional() }))
    .default({})
    .describe('narrower joint ranges, by joint name'),
  commandTimeoutMs: z
    .number()
    .min(10)
    .max(500)
    .default(100)
    .describe('no command applied for this long: hold'),
  extrapolate: z
    .boolean()
    .default(true)
    .describe('carry the joints on for up to 80 ms when commands fail to come'),
  feedbackTimeoutMs: z
    .number()
    .min(10)
    .max(1000)
    .default(200)
    .describe('no joint reading younger than this: stop'),
  enableTimeoutMs: z
    .number()
    .min(100)
    .max(60_000)
    .default(10_000)
    .describe('a driver that takes longer to power its joints: stop'),
  maxCommandAgeMs: z.number().min(20).max(2000).default(500).describe('older commands are refused'),
  maxEngageJumpRad: z
    .number()
    .min(0.001)
    .max(0.5)
    .default(0.15)
    .describe('largest joint difference between the first command and the measured pose'),
  maxLeapRad: z
    .number()
    .min(0.05)
    .max(7)
    .default(1)
    .describe('largest joint difference between two commands; one that leaps farther is refused'),
  workspace: boxSchema
    .optional()
    .describe('where the flange may be, in the base frame; the model’s box still holds'),
  groundZM: z
    .number()
    .min(-5)
    .max(5)
    .nullable()
    .default(null)
    .describe('height of the table or floor in the base frame; null: none'),
  obstacles: z
    .array(obstacle)
    .max(32)
    .default([])
    .describe('boxes in the base frame that the arm may not touch'),
  pair: pairConfig
    .nullable()
    .default(null)
    .describe('the other arm of two: its e-stop stops this one, and neither may touch the other'),
  slowdownM: length.default(0.05).describe('clearance below which the arm approaches more slowly'),
  stopM: length.default(0.01).describe('clearance below which it does not approach any more'),
  approachSpeedMS: z
    .number()
    .min(0.01)
    .max(2)
    .default(0.25)
    .describe('fastest approach at the clearance slowdownM; it shrinks to nothing at stopM'),
  singularityMargin: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.02)
    .describe('manipulability, as a share of the arm’s best, below which the arm slows down; 0 never'),
  singularitySpeedPercent: percent(30).describe('share of the speed that is left in a singularity'),
  limitSlowdownRad: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('distance from the end of a joint’s range at which it slows down; 0 never'),
});
export type SupervisorConfig = z.infer<typeof supervisorConfig>;
