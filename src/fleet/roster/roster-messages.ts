import { z } from 'zod';
import { presenceSchema, requestId } from '../messages.ts';

/** `farhand.roster.<group>.<user>`; the group `-` stands for all robots. */
export const rosterRequestSchema = z.object({
  id: requestId,
  /** The service that answered before; others ignore the request. Empty: any. */
  to: z.string().max(32).default(''),
  /** Changes after this version; 0: all robots. */
  since: z.int().min(0).default(0),
});

const rowSchema = z.object({
  presence: presenceSchema,
  /** How long it has been silent; null: it is online. */
  goneForMs: z.number().nullable(),
});

export const rosterAnswerSchema = z.object({
  /** Which service answers. */
  by: z.string().max(32),
  rows: z.array(rowSchema),
  removed: z.array(z.string().max(128)),
  /** For the next request. */
  version: z.int().min(0),
  /** Whether there are more changes now. */
  more: z.boolean(),
});
export type RosterAnswer = z.infer<typeof rosterAnswerSchema>;

/** The token of a subject that stands for these robots; null: they are no group. */
export function rosterToken(pattern: string): string | null {
  if (pattern === '*') return '-';
  return pattern.endsWith('/*') ? pattern.slice(0, -2) : null;
}

export const rosterName = (token: string): string => `${token}/roster`;
