import { z } from 'zod';
import { PERSON_NAME } from './person-name.ts';

export const personName = z.string().regex(PERSON_NAME);

const lengths = z.array(z.number().min(0.01).max(0.3)).length(5);
const offset = z.number().min(-0.1).max(0.1);
const bend = z.number().min(-0.35).max(0.35);

/** What `farhand calibrate hand` finds out about a person's hand. Fingers from the thumb. */
export const personSchema = z.strictObject({
  lengthM: lengths.optional().describe('bones of each finger, summed'),
  touchM: z
    .array(z.number().min(0).max(0.035))
    .length(4)
    .optional()
    .describe('distance between the tracked tips of thumb and index … pinky when they touch'),
  openRad: z
    .array(z.tuple([bend, bend, bend]))
    .length(4)
    .optional()
    .describe('bend (MCP, PIP, DIP) that the tracker reports for index … pinky of a flat hand'),
  thumbM: z
    .tuple([offset, offset, offset])
    .optional()
    .describe('correction of the thumb’s target in the palm’s frame of the robot'),
});
export type Person = z.infer<typeof personSchema>;
