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

/** The other arm of a pair, driven by another robot process on this machine. */
const pairConfig = z.strictObject({
  model: z.string().describe('robot model of the other arm'),
  port: z.int().min(1).max(65535).describe('UDP port of this process, on loopback'),
  otherPort: z.int().min(1).max(65535).describe('UDP port of the other arm’s process'),
  baseXyzM: triple.default([0, 0, 0]).describe('position of the other arm’s base in this arm’s base frame'),
  baseRpyRad: triple.default([0, 0, 0]).describe('orientation of the other arm’s base'),
  sharedBase: z.boolean().default(false).describe('both models describe one body and share its base frame'),
  marginM: z
    .number()
    .min(0.02)
    .max(0.5)
    .default(0.08)
    .describe('added to the other arm’s size, because it moves while its pose is in transit'),
  silenceMs: z
    .number()
    .min(20)
    .max(500)
    .default(100)
    .describe('hold if the other arm’s newest pose is older than this'),
});

/** Limits of the supervisor. The model sets the ceilings; these settings can only lower them. */
export const supervisorConfig = z.strictObject({
  speedPercent: percent(100).describe('share of the model’s joint velocity limits'),
  accelerationPercent: percent(100).describe('share of the model’s joint acceleration limits'),
  jerkPercent: percent(100).describe('share of the model’s joint jerk limits; a lower share adds lag'),
  engageSpeedPercent: percent(25).describe(
    'share of the velocity limits right after engaging, until the arm has caught up with the hand',
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
    .describe('hold if no command was applied for this long'),
  extrapolate: z
    .boolean()
    .default(true)
    .describe('extrapolate the motion for up to 80 ms when commands are missing'),
  feedbackTimeoutMs: z
    .number()
    .min(10)
    .max(1000)
    .default(200)
    .describe('stop if the newest joint reading is older than this'),
  enableTimeoutMs: z
    .number()
    .min(100)
    .max(60_000)
    .default(10_000)
    .describe('stop if the driver takes longer than this to power its joints'),
  maxCommandAgeMs: z.number().min(20).max(2000).default(500).describe('older commands are rejected'),
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
    .describe('largest joint difference between two commands; a larger leap is rejected'),
  workspace: boxSchema
    .optional()
    .describe('box the flange must stay in, in the base frame; the model’s box still applies'),
  groundZM: z
    .number()
    .min(-5)
    .max(5)
    .nullable()
    .default(null)
    .describe('height of the table or floor in the base frame; null: no floor'),
  obstacles: z
    .array(obstacle)
    .max(32)
    .default([])
    .describe('boxes in the base frame that the arm must not touch'),
  pair: pairConfig
    .nullable()
    .default(null)
    .describe('the other arm of a pair: a stop of either stops both, and they must not touch'),
  slowdownM: length.default(0.05).describe('clearance below which the arm approaches more slowly'),
  stopM: length.default(0.01).describe('clearance below which the arm stops approaching'),
  approachSpeedMS: z
    .number()
    .min(0.01)
    .max(2)
    .default(0.25)
    .describe('fastest approach at clearance slowdownM; falls to zero at stopM'),
  singularityMargin: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.02)
    .describe('manipulability, as a share of the arm’s best, below which the arm slows down; 0: never'),
  singularitySpeedPercent: percent(30).describe('share of the speed allowed in a singularity'),
  maxExternalEffortNm: z
    .number()
    .min(0.1)
    .max(500)
    .nullable()
    .default(null)
    .describe(
      'hold if the torque from outside on a joint exceeds this, where the driver knows it; null: never',
    ),
  maxLagS: z
    .number()
    .min(0.1)
    .max(10)
    .default(3)
    .describe('an arm further behind the hand’s path than this takes the shortest path to the hand'),
});
export type SupervisorConfig = z.infer<typeof supervisorConfig>;
