import { z } from 'zod';
import { personName, personSchema } from './person.ts';
import { PLAYOUT_MODES, PLAYOUT_QUALITIES } from './playout-request.ts';
import { PULSE_DEVICES, type PulseEvent } from './pulse-event.ts';
import type { DeskRequest } from './telemetry.ts';
import type { VideoEvent } from './video-event.ts';
import { MAX_TASK_CHARS } from './world-state.ts';

/** What a page, a command line or a console may request of an operator process: one schema per kind, used at each hop. */

const plain = <Kind extends string>(kind: Kind) => z.strictObject({ kind: z.literal(kind) });
const vector = (length: number) => z.array(z.number()).length(length);
const text = z.string().max(400);

/** Exactly these fields, except for an e-stop, which counts whatever else the message contains. */
const action = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('estop') }),
  plain('reset'),
  plain('arm'),
  plain('disarm'),
  plain('home'),
  plain('hold'),
  plain('teleop'),
  plain('take-over'),
  plain('hand-back'),
  z.strictObject({
    kind: z.literal('world'),
    task: z.string().max(MAX_TASK_CHARS),
    seed: z.int().min(0).nullable(),
  }),
  z.strictObject({ kind: z.literal('drive'), side: z.enum(['left', 'right']) }),
  z.strictObject({ kind: z.literal('input'), name: z.string().max(64) }),
  z.strictObject({ kind: z.literal('playout'), quality: z.enum(PLAYOUT_QUALITIES) }),
  z.strictObject({ kind: z.literal('playout-mode'), mode: z.enum(PLAYOUT_MODES) }),
]);

const recording = <Action extends string, Fields extends z.ZodRawShape>(name: Action, fields: Fields) =>
  z.strictObject({ kind: z.literal('record'), action: z.literal(name), ...fields });

const record = z.discriminatedUnion('action', [
  recording('start', { task: text.exactOptional() }),
  recording('stop', { label: text.exactOptional() }),
  recording('discard', {}),
  recording('task', { task: text }),
  recording('mark', { subtask: text }),
  recording('label', { episode: text, label: text }),
]);

const person = z.strictObject({ kind: z.literal('person'), name: personName, person: personSchema });

const stamp = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const video = z.strictObject({
  ...{ kind: z.literal('video'), camera: z.string().max(128), captureNs: stamp, receivedNs: stamp },
  ...{ encodedNs: stamp.nullable(), decodedNs: stamp.nullable(), displayedNs: stamp.nullable() },
  pageUncertaintyNs: stamp.nullable(),
}) satisfies z.ZodType<VideoEvent>;

const pulseFields = {
  ...{ kind: z.literal('pulse'), device: z.enum(PULSE_DEVICES), strength: z.number().min(0).max(1) },
  ...{ readNs: stamp, publishedNs: stamp },
};
const pulse = z.strictObject({ ...pulseFields, givenMs: z.number() });
const givenPulse = z.strictObject({
  ...pulseFields,
  ...{ givenNs: stamp, pageUncertaintyNs: stamp },
}) satisfies z.ZodType<PulseEvent>;

/** The page's hand; the input checks its range. */
const hand = z.strictObject({
  ...{ kind: z.literal('hand'), positionM: vector(3), quatXyzw: vector(4), gripper: z.number() },
  ...{ clutch: z.boolean(), takenMs: z.number().exactOptional(), record: z.boolean().exactOptional() },
});

/** On the operator's desk port. */
export type DeskActionRequest = z.infer<typeof action>;
export const deskActionSchema: z.ZodType<DeskActionRequest, unknown> = action;

/** On its telemetry port, which is independent of the control thread. */
export const sideRequestSchema = z.discriminatedUnion('kind', [record, video, person, givenPulse]);

/** From a page to its console. */
export const deskRequestSchemas = [
  action,
  record,
  hand,
  person,
  pulse,
] as const satisfies readonly z.ZodType<DeskRequest>[];
