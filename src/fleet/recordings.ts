import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { flatName } from './subjects.ts';

/** Names and contents of a fleet's recordings. Every robot has its own bucket, which also holds its index. */

const MAX_ENTRY_BYTES = 64 * 1024;
const RECORDINGS_BUCKET = 'recordings';

/** An episode's name is one token of a subject. */
export const EPISODE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

export const recordingNames = {
  bucket: (robot: string): string => `${RECORDINGS_BUCKET}_${flatName(robot)}`,
  stream: (robot: string): string => `OBJ_${RECORDINGS_BUCKET}_${flatName(robot)}`,
  /** An episode's index entry is stored under this subject. */
  entry: (robot: string, episode: string): string => `farhand.recording.${flatName(robot)}.${episode}`,
  object: (episode: string): string => `${episode}.mcap`,
  chunks: (robot: string, id: string): string => `$O.${RECORDINGS_BUCKET}_${flatName(robot)}.C.${id}`,
  /** Where every NATS client finds an object: its name in base64url. */
  meta: (robot: string, object64: string): string =>
    `$O.${RECORDINGS_BUCKET}_${flatName(robot)}.M.${object64}`,
} as const;

const place = z.strictObject({
  /** `nats`, or `s3://bucket/key`. */
  where: z.string().max(1000),
  /** When its bytes were read back with the right hash. ISO 8601. */
  verifiedAt: z.string(),
});

export const recordingSchema = z.strictObject({
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
  /** Where it is stored. Empty: it is only announced. */
  places: z.array(place).max(16),
  /** Whether the machine that recorded it still has it. */
  atRobot: z.boolean(),
});
export type Recording = z.infer<typeof recordingSchema>;

/** Parses an index entry; null: invalid. */
export function parseRecording(text: string): Recording | null {
  const recording = parseJson(text, recordingSchema, MAX_ENTRY_BYTES);
  return typeof recording === 'string' ? null : recording;
}
