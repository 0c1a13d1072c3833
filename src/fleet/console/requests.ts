import { z } from 'zod';
import { parseJson } from '../../core/parse-json.ts';
import type { FleetRequest } from '../../messages/fleet-console.ts';
import { ROBOT_NAME } from '../subjects.ts';

/** The longest message a page sends is a session description. */
export const MAX_MESSAGE_BYTES = 24 * 1024;
const id = z.int().min(0);
const robot = z.string().regex(ROBOT_NAME);
const about = <Kind extends string>(kind: Kind) => z.strictObject({ kind: z.literal(kind), id, robot });

const requestSchema = z.discriminatedUnion('kind', [
  about('estop'),
  about('take'),
  about('release'),
  about('take-away'),
  about('ask'),
  z.strictObject({ kind: z.literal('open'), id, robot, retry: z.boolean() }),
  z.strictObject({ kind: z.literal('hand-over'), id, ask: z.string().max(64), yes: z.boolean() }),
  z.strictObject({
    ...{ kind: z.literal('answer'), id, robot, session: z.int().min(1) },
    sdp: z.string().max(16 * 1024),
  }),
]);

/** A page's request; null: malformed. */
export function parseFleetRequest(text: string): FleetRequest | null {
  const request = parseJson(text, requestSchema, MAX_MESSAGE_BYTES);
  return typeof request === 'string' ? null : request;
}
