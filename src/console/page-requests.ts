import { z } from 'zod';
import { type JsonProblem, parseJson } from '../core/parse-json.ts';
import type { LinkRequest, ReplayRequest } from '../messages/console.ts';
import type { AccessRequest } from '../messages/console-access.ts';
import { deskRequestSchemas } from '../messages/desk-requests.ts';
import type { DeskRequest } from '../messages/telemetry.ts';

/** The longest message a page sends: the signal that sets up a peer connection. */
export const MAX_MESSAGE_BYTES = 16 * 1024;

/** An id, not a path. */
const episodeName = z
  .string()
  .max(128)
  .regex(/^[\w][\w.-]*$/);

const signal = z.union([
  z.strictObject({ type: z.literal('answer'), sdp: z.string() }),
  z.strictObject({ candidate: z.string().max(512), mid: z.string().max(64) }),
]);

const replay = z.discriminatedUnion('action', [
  z.strictObject({
    ...{ kind: z.literal('replay'), action: z.literal('start'), episode: episodeName },
    speed: z.number().min(0.1).max(1),
  }),
  z.strictObject({ kind: z.literal('replay'), action: z.literal('stop') }),
]);

export type PageRequest = AccessRequest | LinkRequest | ReplayRequest | DeskRequest;

const pageRequestSchema: z.ZodType<PageRequest, unknown> = z.discriminatedUnion('kind', [
  ...deskRequestSchemas,
  z.strictObject({ kind: z.literal('control'), action: z.enum(['claim', 'take', 'release']) }),
  z.strictObject({ kind: z.literal('probed'), t0: z.number(), t1: z.number(), t2: z.number() }),
  z.strictObject({ kind: z.literal('rtc'), signal }),
  z.strictObject({ kind: z.literal('rtc-start') }),
  replay,
  z.strictObject({ kind: z.literal('link'), profile: z.string().max(64) }),
]);

export const parsePageRequest = (text: string): PageRequest | JsonProblem =>
  parseJson(text, pageRequestSchema, MAX_MESSAGE_BYTES);

const kindSchema = z.object({ kind: z.string().max(32) });

/** The kind that a rejected message claims to be, for the reply to its page; empty if unknown. */
export function claimedKind(text: string, problem: JsonProblem): string {
  if (problem !== 'malformed') return '';
  const claimed = parseJson(text, kindSchema, MAX_MESSAGE_BYTES);
  return typeof claimed === 'string' ? '' : claimed.kind;
}
