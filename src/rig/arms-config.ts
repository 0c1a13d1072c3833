import { z } from 'zod';

export const SIDES = ['left', 'right'] as const;
export type Side = (typeof SIDES)[number];

const triple = z.tuple([z.number(), z.number(), z.number()]);
const settings = z.record(z.string(), z.unknown()).default({});

const arm = z.strictObject({
  baseXyzM: triple
    .default([0, 0, 0])
    .describe('position of the arm’s base in the frame that both arms share'),
  baseRpyRad: triple.default([0, 0, 0]).describe('orientation of the arm’s base in that frame'),
  model: z.string().optional().describe('robot model of this arm; otherwise the rig’s'),
  operator: settings.describe('settings of `operator` for this arm'),
  link: settings.describe('settings of `link` for this arm; the left arm’s ports are 20 above the right’s'),
  robot: settings.describe('settings of `robot` for this arm'),
});

/** Two arms that one person drives; docs/bimanual.md. */
export const armsConfig = z.strictObject({
  left: arm.prefault({}),
  right: arm.prefault({}),
  sharedBase: z.boolean().default(false).describe('both models describe one body and share its base frame'),
  marginM: z
    .number()
    .min(0.02)
    .max(0.5)
    .default(0.08)
    .describe('added to each arm’s size for the other, because both move'),
  silenceMs: z
    .number()
    .min(20)
    .max(500)
    .default(100)
    .describe('an arm holds if the other’s newest pose is older than this'),
  apart: z
    .boolean()
    .default(false)
    .describe('the arms cannot reach each other: no collision check between them; needed on two machines'),
  pairPort: z
    .int()
    .min(1)
    .max(65534)
    .default(4791)
    .describe('UDP, loopback: for two robot processes on one machine; the left arm uses the next port'),
});
export type ArmsConfig = z.infer<typeof armsConfig>;
