import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { type EpisodeInfo, ROW_SOURCES } from '../messages/recording.ts';
import { LIMITED_BY, SUPERVISOR_STATES } from '../messages/robot-state.ts';
import type { WorldTelemetry } from '../messages/telemetry.ts';
import { worldSchema } from '../messages/telemetry-schema.ts';
import type { RowMessage } from './schemas.ts';

/** The JSON inside a recording, as read back. Files are untrusted. */

/** Fits a rig with its model. */
const MAX_METADATA_BYTES = 4 << 20;
const MAX_MESSAGE_BYTES = 64 * 1024;
/** A rig nests deeper than our messages. */
const MAX_DEPTH = 64;
const names = z.array(z.string().max(256)).max(256);
const maybe = z.number().nullable();
/** Rates an operator can have; loop counts and memory depend on it. */
const rateHz = z.number().min(1).max(1000);

const numbers = z.array(z.number()).max(256);
const figures = z.object({
  ...{ peakVelocityRadS: z.number(), stillShare: z.number(), offsetRad: maybe, interventions: z.number() },
  ...{ endRad: numbers, motion: numbers },
});
const quality = z.object({
  ...{ skippedShare: z.number(), staleShare: z.number(), badWindows: z.number() },
  ...{ jerkP95RadS3: maybe, frameAgeP95Ms: maybe, oneWayP95Ms: maybe },
  refusedBy: z.array(z.string()),
  figures: figures.exactOptional(),
});

const jointLimits = z.object({ minRad: numbers, maxRad: numbers, maxVelocityRadS: numbers });

const info = z.object({
  ...{ id: z.string(), task: z.string(), label: z.string().nullable(), startedAt: z.string() },
  ...{ durationS: z.number(), rows: z.number(), skippedRows: z.number(), staleRows: z.number() },
  ...{ robot: z.string(), joints: names, hasGripper: z.boolean(), cameras: names, rateHz },
  hasEffort: z.boolean().exactOptional(),
  hasVelocity: z.boolean().exactOptional(),
  hasTorque: z.boolean().exactOptional(),
  hasTool: z.boolean().exactOptional(),
  video: z.literal('h264').exactOptional(),
  depthCameras: names.exactOptional(),
  hasSound: z.boolean().exactOptional(),
  jointLimits: jointLimits.exactOptional(),
  ...{ sizeBytes: z.number(), complete: z.boolean(), quality: quality.nullable() },
}) satisfies z.ZodType<EpisodeInfo>;

/** Made once: making a schema takes longer than reading an episode's metadata with it. */
const part = info.partial();
/** Known at the start: the rig, and what is known about the episode. */
const start = z.looseObject(part.shape);
export type EpisodeStart = z.infer<typeof start>;

/** Null if this is not the metadata of a recording. */
export function parseStart(json: string): EpisodeStart | null {
  return orNull(parseJson(json, start, MAX_METADATA_BYTES, MAX_DEPTH));
}

/** The summary at the end of a file; null if there is none. */
export function parseSummary(json: string): Partial<EpisodeInfo> | null {
  return orNull(parseJson(json, part, MAX_METADATA_BYTES, MAX_DEPTH)) as Partial<EpisodeInfo> | null;
}

const frame = z.object({ captureNs: z.number(), ageNs: z.number(), stale: z.boolean() });
/** JSON has no NaN: null means no gripper. */
const gripper = z
  .number()
  .nullable()
  .transform((value) => value ?? 0);
const row: z.ZodType<RowMessage, unknown> = z.object({
  ...{ index: z.number(), timeNs: z.number(), seq: z.number(), engaged: z.boolean() },
  ...{ commandGripper: gripper, stateGripper: gripper },
  ...{ supervisor: z.enum(SUPERVISOR_STATES), limitedBy: z.enum(LIMITED_BY) },
  ...{ oneWayNs: maybe, uncertaintyNs: maybe, playoutDelayNs: maybe },
  frames: z.record(z.string(), frame),
  subtask: z.string().max(400).exactOptional(),
  source: z.enum(ROW_SOURCES).exactOptional(),
  intervention: z.boolean().exactOptional(),
  disagreementRad: z.number().exactOptional(),
});

export const parseRow = (data: Uint8Array): RowMessage | null =>
  orNull(parseJson(data, row, MAX_MESSAGE_BYTES));

export const parseWorld = (data: Uint8Array): WorldTelemetry | null =>
  orNull(parseJson(data, worldSchema, MAX_MESSAGE_BYTES));

const object = z.record(z.string(), z.unknown());

/** A trace or event of a recording; the consumer validates each field. Null if it is not an object. */
export const parseObject = (data: Uint8Array): Record<string, unknown> | null =>
  orNull(parseJson(data, object, MAX_MESSAGE_BYTES));

const sidecar = z.object({ label: z.string().nullable().exactOptional(), task: z.string().exactOptional() });
/** What can be changed after an episode was saved; stored beside it as `<id>.json`. */
export type Sidecar = z.infer<typeof sidecar>;

export const parseSidecar = (data: Uint8Array): Sidecar | null =>
  orNull(parseJson(data, sidecar, MAX_MESSAGE_BYTES));

const orNull = <T extends object>(value: T | string): T | null => (typeof value === 'string' ? null : value);
