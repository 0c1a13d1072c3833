import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';

/** Messages between the robots and operators of a fleet over the broker, as JSON. */

/** The longest message is a session description. */
const MAX_MESSAGE_BYTES = 32 * 1024;
const name = z.string().max(128);
const finite = z.number().nullable();

/** `farhand.presence.<robot>`, once a second. */
export const presenceSchema = z.object({
  kind: z.literal('presence'),
  robot: name,
  model: name,
  version: name,
  /** The supervisor's state. */
  state: name,
  cause: z.string().max(256),
  /** The user who drives it; null: none. */
  holder: name.nullable(),
  /**
   * The current session's round trip, datagrams or messages per second in each direction, and how many were
   * rejected.
   */
  link: z
    .object({
      rttMs: finite,
      fromOperatorHz: finite,
      toOperatorHz: finite,
      refused: z.number().optional(),
      client: z.enum(['operator', 'page']).optional(),
    })
    .nullable(),
  /** Robot's wall clock. */
  atMs: z.number(),
});
export type Presence = z.infer<typeof presenceSchema>;

/** `farhand.telemetry.<robot>`, at most ten times a second. */
export interface FleetTelemetry {
  kind: 'telemetry';
  state: string;
  limitedBy: string;
  measuredRad: number[];
  targetRad: number[];
  gripper: number | null;
  atMs: number;
}

/** `farhand.event.<robot>`: a transition of the supervisor. */
export const eventSchema = z.object({
  kind: z.literal('transition'),
  from: name,
  to: name,
  cause: z.string().max(256),
  atMs: z.number(),
});
export type FleetEvent = z.infer<typeof eventSchema>;

/** `farhand.audit.<robot>.<user>`: who did what. */
export const auditSchema = z.object({
  what: z.enum([
    'lease-taken',
    'lease-released',
    'handed-over',
    'session-opened',
    'session-ended',
    'session-lost',
    'session-reopened',
    'estop',
    'stopped',
  ]),
  /** The user concerned, if not the reporting one. */
  who: name.optional(),
  why: z.string().max(256).optional(),
  revision: z.number().optional(),
  atMs: z.number(),
});
export type Audit = z.infer<typeof auditSchema>;

const ask = z.string().max(32);

/** `farhand.ask.<robot>.<user>`, between operators: one asks another to hand the robot over. */
export const askSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ask'), ask, holder: name }),
  /** The request is shown to the holder. */
  z.object({ kind: z.literal('heard'), ask, to: name }),
  /** `yes`: the lease has been released. */
  z.object({ kind: z.literal('answer'), ask, to: name, yes: z.boolean() }),
]);
export type Ask = z.infer<typeof askSchema>;

export const iceServerSchema = z.object({
  url: z.string().max(256),
  username: z.string().max(256).optional(),
  password: z.string().max(256).optional(),
});
export type IceServer = z.infer<typeof iceServerSchema>;

const sdp = z.string().max(16 * 1024);
const session = z.int().min(1);

/** `farhand.signal.<robot>.<user>`, operator → robot. */
export const signalSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('open'),
    holder: name,
    /** Its digest is part of the holder's name: others can read the lease, but not this. */
    secret: z.string().max(64),
    revision: z.int().min(1),
    /** Who drives: an operator process with the link protocol, or a page with the console's protocol. */
    client: z.enum(['operator', 'page']).default('operator'),
  }),
  z.object({ kind: z.literal('answer'), session, sdp }),
]);
export type Signal = z.infer<typeof signalSchema>;
/** As sent: fields with a default may be omitted. */
export type SentSignal = z.input<typeof signalSchema>;

export const signalReplySchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('offer'),
    session,
    sdp,
    model: name,
    ice: z.array(iceServerSchema).max(8),
  }),
  z.object({ kind: z.literal('accepted') }),
  z.object({ kind: z.literal('refused'), reason: z.string().max(128) }),
]);
export type SignalReply = z.infer<typeof signalReplySchema>;

/** A robot's answer to `farhand.estop.<robot>.<user>`. */
export const estopReplySchema = z.object({ state: name });

/** On the reliable channel of a session. `key` is the key of the sealed link behind it. */
export const controlSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('key'), key: z.base64().length(44) }),
  z.object({ kind: z.literal('ended'), reason: z.string().max(128) }),
  z.object({ kind: z.literal('estop') }),
  z.object({ kind: z.literal('bye') }),
  /** Operator → robot: whether to send sound. */
  z.object({ kind: z.literal('want'), sound: z.boolean() }),
]);
export type Control = z.infer<typeof controlSchema>;

/** Null unless the text is JSON of that schema. */
export function parsed<T extends object>(schema: z.ZodType<T, unknown>, text: string): T | null {
  const value = parseJson(text, schema, MAX_MESSAGE_BYTES);
  return typeof value === 'string' ? null : value;
}

/** A lease's holder: the user's name, and a digest whose secret only this acquisition knows. */
export const holderOf = (user: string, secret: string): string =>
  `${user}.${createHash('sha256').update(secret).digest('hex').slice(0, 32)}`;

export const userOf = (holder: string): string => holder.split('.')[0]!;
