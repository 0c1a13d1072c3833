import { z } from 'zod';
import { parseJson } from '../core/parse-json.ts';
import { printable } from '../core/printable.ts';
import { signedSchema } from './leases/grant.ts';

/** Messages between the robots and operators of a fleet over the broker, as JSON. */

/** The longest message is a session description. */
const MAX_MESSAGE_BYTES = 32 * 1024;
/** Texts of others are shown in terminals. */
const shown = (most: number) => z.string().max(most).transform(printable);
const name = shown(128);
const finite = z.number().nullable();
/** Milliseconds since 1970, by the sender's clock: a time that `Date` can show. */
const wallMs = z.number().min(0).max(8.64e15);

/** Part of every request; the answer's subject ends with it. */
export const requestId = z.string().regex(/^[\w-]{1,32}$/);

/** `farhand.presence.<robot>`: at every change, every second while driven, else every five. */
export const presenceSchema = z.object({
  kind: z.literal('presence'),
  robot: name,
  model: name,
  version: name,
  /** The supervisor's state. */
  state: name,
  cause: shown(256),
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
  /** For a grant of the lease service. */
  nonce: z.string().max(64).optional(),
  /** Robot's wall clock. */
  atMs: wallMs,
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
  cause: shown(256),
  atMs: wallMs,
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
    /** Requests that no honest program sends. */
    'rejected',
  ]),
  /** How many, of several at once. */
  count: z.number().optional(),
  /** The user concerned, if not the reporting one. */
  who: name.optional(),
  why: shown(256).optional(),
  revision: z.number().optional(),
  atMs: wallMs,
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

const iceServerSchema = z.object({
  url: z.string().max(256),
  username: z.string().max(256).optional(),
  password: z.string().max(256).optional(),
});
export type IceServer = z.infer<typeof iceServerSchema>;

const sdp = z.string().max(16 * 1024);
const session = z.int().min(1);
const signature = z.string().max(88);

/** `farhand.signal.<robot>.<user>`, operator → robot. */
export const signalSchema = z.discriminatedUnion('kind', [
  /** Asks for a nonce, to take the lease with. */
  z.object({ kind: z.literal('greet'), id: requestId }),
  z.object({
    kind: z.literal('open'),
    id: requestId,
    grant: signedSchema,
    /** Who drives: an operator process with the link protocol, or a page with the console's protocol. */
    client: z.enum(['operator', 'page']).default('operator'),
  }),
  /** `sig`: of `answerText`, with the key in the grant. */
  z.object({ kind: z.literal('answer'), id: requestId, session, sdp, sig: signature }),
  /** Whether to send telemetry, for ten seconds. */
  z.object({ kind: z.literal('want'), id: requestId }),
]);
export type Signal = z.infer<typeof signalSchema>;
/** As sent: fields with a default may be omitted; the id is added. */
export type SentSignal = OmitId<z.input<typeof signalSchema>>;
type OmitId<T> = T extends unknown ? Omit<T, 'id'> : never;

export const signalReplySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('greeting'), nonce: z.string().max(64), model: name }),
  z.object({
    kind: z.literal('offer'),
    session,
    sdp,
    model: name,
    ice: z.array(iceServerSchema).max(8),
    /** The robot's credentials without their key, and the signature of `offerText` with it. */
    token: z.string().max(16 * 1024),
    sig: signature,
  }),
  z.object({ kind: z.literal('accepted') }),
  z.object({ kind: z.literal('refused'), reason: shown(128) }),
]);
export type SignalReply = z.infer<typeof signalReplySchema>;

/** What both ends sign, so that not even the broker can put itself between them. */
export const offerText = (robot: string, key: string, session: number, sdpText: string): string =>
  `farhand-offer\n${robot}\n${key}\n${session}\n${sdpText}`;
export const answerText = (robot: string, key: string, session: number, sdpText: string): string =>
  `farhand-answer\n${robot}\n${key}\n${session}\n${sdpText}`;

/** `farhand.estop.<robot>.<user>`: any message stops the robot; one with an id is answered. */
export const estopSchema = z.object({ id: requestId });

export const estopReplySchema = z.object({ state: name });

/** On the reliable channel of a session. `key` is the key of the sealed link behind it. */
export const controlSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('key'), key: z.base64().length(44) }),
  z.object({ kind: z.literal('ended'), reason: shown(128) }),
  z.object({ kind: z.literal('estop') }),
  z.object({ kind: z.literal('bye') }),
  /** Operator → robot: whether to send sound. */
  z.object({ kind: z.literal('want'), sound: z.boolean() }),
  /** Robot → operator, while driven: for the operator's next renewal, in case the robot cannot reach the broker. */
  z.object({ kind: z.literal('nonce'), nonce: z.string().max(64) }),
  /** Operator → robot: the grant of that renewal. */
  z.object({ kind: z.literal('grant'), grant: signedSchema }),
]);
export type Control = z.infer<typeof controlSchema>;

/** Null unless the text is JSON of that schema. */
export function parsed<T extends object>(schema: z.ZodType<T, unknown>, text: string | Uint8Array): T | null {
  const value = parseJson(text, schema, MAX_MESSAGE_BYTES);
  return typeof value === 'string' ? null : value;
}
