import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import type { FleetRole, Permissions } from './roles.ts';

/** Names and contents of a fleet's recordings. Every robot has a bucket of its own, which also keeps its index. */

const MAX_ENTRY_BYTES = 64 * 1024;
const RECORDINGS_BUCKET = 'recordings';

/** An episode's name is one token of a subject. */
export const EPISODE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

export const recordingNames = {
  bucket: (robot: string): string => `${RECORDINGS_BUCKET}_${robot}`,
  stream: (robot: string): string => `OBJ_${RECORDINGS_BUCKET}_${robot}`,
  /** What is known of an episode: announced on it, and kept under it. */
  entry: (robot: string, episode: string): string => `farhand.recording.${robot}.${episode}`,
  object: (episode: string): string => `${episode}.mcap`,
  chunks: (robot: string, id: string): string => `$O.${RECORDINGS_BUCKET}_${robot}.C.${id}`,
  /** As every client of NATS finds an object: its name in base64url. */
  meta: (robot: string, object64: string): string => `$O.${RECORDINGS_BUCKET}_${robot}.M.${object64}`,
} as const;

const place = z.strictObject({
  /** `nats`, or `s3://bucket/key`. */
  where: z.string().max(1000),
  /** When its bytes were read back and had the right hash. ISO 8601. */
  verifiedAt: z.string(),
});

const recordingSchema = z.strictObject({
  robot: z.string(),
  episode: z.string().regex(EPISODE_NAME),
  sizeBytes: z.number().int().positive(),
  /** Of the whole file, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  startedAt: z.string(),
  durationS: z.number().nonnegative(),
  rows: z.number().int().nonnegative(),
  task: z.string(),
  label: z.string().nullable(),
  /** Where it can be had from. Empty: it is announced only. */
  places: z.array(place).max(16),
  /** Whether the place it was recorded at still has it. */
  atRobot: z.boolean(),
});
export type Recording = z.infer<typeof recordingSchema>;

/** An entry of the index; null: it is not one. */
export function parseRecording(text: string): Recording | null {
  const recording = parseJson(text, recordingSchema, MAX_ENTRY_BYTES);
  return typeof recording === 'string' ? null : recording;
}

/**
 * What somebody may do with recordings. Nobody but an administrator may make consumers: a consumer delivers to any
 * subject its maker names, whatever the maker may publish itself.
 */
export function recordingPermissions(role: FleetRole, robots: readonly string[]): Permissions {
  // A wildcard stands for a whole token: who may see all robots may read what every stream gives directly.
  const streams = robots.map((robot) => (robot === '*' ? '*' : recordingNames.stream(robot)));
  const entries = robots.map((robot) => recordingNames.entry(robot, '*'));
  const reading = streams.flatMap((stream) => [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
  ]);
  if (role === 'viewer') return { pub: reading, sub: entries };
  const buckets = robots.map((robot) => (robot === '*' ? '*' : recordingNames.bucket(robot)));
  const writing = buckets.flatMap((bucket) => [`$O.${bucket}.C.>`, `$O.${bucket}.M.>`]);
  return { pub: [...reading, ...writing, ...entries], sub: entries };
}
