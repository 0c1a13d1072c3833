import { z } from 'zod';
import { requestId } from '../messages.ts';
import { EPISODE_NAME, recordingSchema } from '../recordings.ts';

/** Requests to the storing service, by the verb in their subject. A chunk's bytes follow the JSON. */

const episode = z.string().regex(EPISODE_NAME);
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.mcap$/);
const about = {
  ...{ id: requestId, name, sizeBytes: z.int().positive() },
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
};

export const recordingRequests = {
  put: z.discriminatedUnion('op', [
    z.object({ op: z.literal('entry'), id: requestId, recording: recordingSchema }),
    z.object({ op: z.literal('reached'), ...about }),
    z.object({ op: z.literal('chunk'), ...about, last: z.int().min(0) }),
    z.object({ op: z.literal('finish'), ...about }),
    z.object({ op: z.literal('discard'), ...about }),
  ]),
  get: z.discriminatedUnion('op', [
    z.object({ op: z.literal('entry'), id: requestId, episode }),
    z.object({ op: z.literal('find'), id: requestId, name }),
    z.object({ op: z.literal('read'), id: requestId, name, mark: z.int().min(0) }),
  ]),
  /** A page of the index, after that episode. */
  list: z.object({ id: requestId, after: z.string().max(100) }),
} as const;

export type PutRequest = z.infer<typeof recordingRequests.put>;
export type GetRequest = z.infer<typeof recordingRequests.get>;
export type ListRequest = z.infer<typeof recordingRequests.list>;

export const recordingAnswers = {
  entry: z.object({ recording: recordingSchema.nullable() }),
  find: z.object({ found: z.object({ sizeBytes: z.number(), sha256: z.string() }).nullable() }),
  read: z.object({ mark: z.number().nullable() }),
  reached: z.object({ chunks: z.number(), last: z.number(), lastSha256: z.string() }),
  chunk: z.object({ last: z.number() }),
  done: z.object({ ok: z.literal(true) }),
  list: z.object({ recordings: z.array(recordingSchema), more: z.boolean(), next: z.string() }),
  failed: z.object({ ok: z.literal(false), why: z.string().max(500) }),
} as const;
