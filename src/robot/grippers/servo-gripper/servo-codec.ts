/**
 * Text datagrams between the arm's computer and a microcontroller that drives one servo: easy to write in any sketch.
 *
 * `G <number> <target>` sets a target, 0 open … 1000 closed; `G <number> ?` only asks; `G <number> H` holds where it is.
 * Each is answered by `P <number> <position>`, with the same number and the servo's position, 0 … 1000.
 */
export const FULL = 1000;
const REPLY = /^P (\d{1,10}) (\d{1,4})\s*$/;

export type ServoRequest = number | '?' | 'H';

export const encodeRequest = (number: number, request: ServoRequest): Buffer =>
  Buffer.from(`G ${number} ${request}\n`, 'latin1');

/** Null if it is not a reply. */
export function decodeServoReply(bytes: Uint8Array): { number: number; position: number } | null {
  if (bytes.length > 32) return null;
  const [, number, count] = REPLY.exec(Buffer.from(bytes).toString('latin1')) ?? [];
  if (number === undefined || Number(count) > FULL) return null;
  return { number: Number(number), position: Number(count) / FULL };
}
