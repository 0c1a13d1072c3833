import type { Reason } from '../../core/counters.ts';
import { DESK_ACTIONS, type DeskAction } from '../../core/messages.ts';
import { countOf, frameBody, writeFrame } from './frame.ts';

const KNOWN = new Set<string>(DESK_ACTIONS);

/** Operator → robot, command socket: arm, disarm, e-stop, reset. Repeated until the state acknowledges `request`. */
export interface DeskMessage {
  session: number;
  request: number;
  action: DeskAction;
  epoch: number;
}

export const emptyDesk = (): DeskMessage => ({ session: 0, request: 0, action: 'disarm', epoch: 0 });

export function encodeDesk(message: DeskMessage, out: Uint8Array): number {
  const { session, request, action, epoch } = message;
  return writeFrame('desk', { session, request, action, epoch }, out);
}

export function decodeDesk(bytes: Uint8Array, length: number, out: DeskMessage): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.session = countOf(body['session']);
  out.request = countOf(body['request']);
  out.epoch = countOf(body['epoch']);
  if (Number.isNaN(out.session + out.request + out.epoch) || !KNOWN.has(body['action'] as string))
    return 'malformed';
  out.action = body['action'] as DeskAction;
  return null;
}

/** Operator → robot, state socket, 5 Hz: claims or renews control and says where state goes. */
export function encodeHello(session: number, out: Uint8Array): number {
  return writeFrame('hello', { session }, out);
}

/** Operator → robot, state socket: gives control up. Read by `decodeHello`. */
export function encodeBye(session: number, out: Uint8Array): number {
  return writeFrame('bye', { session }, out);
}

/** The session of a hello or bye, or NaN. */
export function decodeHello(bytes: Uint8Array, length: number): number {
  return countOf(frameBody(bytes, length)?.['session']);
}
