import type { Reason } from '../../core/counters.ts';
import { DESK_ACTIONS, type DeskAction } from '../../messages/desk-action.ts';
import { PLAYOUT_MODES, PLAYOUT_QUALITIES, type PlayoutRequest } from '../../messages/playout-request.ts';
import { MAX_TASK_CHARS, type WorldRequest } from '../../messages/world-state.ts';
import { countOf, frameBody, type Json, numberOf, writeFrame } from './frame.ts';

const NEXT_SEED: WorldRequest = { task: '', seed: null };
const KNOWN = new Set<string>(DESK_ACTIONS);

/** Operator → robot, command socket: arm, disarm, e-stop, reset. Repeated until the state acknowledges `request`. */
export interface DeskMessage {
  session: number;
  request: number;
  action: DeskAction;
  epoch: number;
  /** Of the action `world`; absent: the task's next seed. */
  world?: WorldRequest;
}

export const emptyDesk = (): DeskMessage => ({ session: 0, request: 0, action: 'disarm', epoch: 0 });

export function encodeDesk(message: DeskMessage, out: Uint8Array): number {
  const { session, request, action, epoch } = message;
  const world = action === 'world' ? (message.world ?? NEXT_SEED) : {};
  return writeFrame('desk', { session, request, action, epoch, ...world }, out);
}

export function decodeDesk(bytes: Uint8Array, length: number, out: DeskMessage): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.session = countOf(body['session']);
  out.request = countOf(body['request']);
  out.epoch = countOf(body['epoch']);
  if (Number.isNaN(out.session + out.request + out.epoch) || !KNOWN.has(body['action'] as string))
    return 'malformed';
  const action = body['action'] as DeskAction;
  if (action === 'world') {
    const world = worldRequestOf(body);
    if (world === null) return 'malformed';
    out.world = world;
  }
  out.action = action;
  return null;
}

/** A state on the command socket answers an e-stop. Returns its `ack`; what else the state reports is not needed. */
export function decodeEstopAnswer(bytes: Uint8Array, length: number, session: number): number | Reason {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  const [of, ack] = [countOf(body['session']), countOf(body['ack'])];
  if (Number.isNaN(of + ack)) return 'malformed';
  return of === session ? ack : 'unknown-source';
}

function worldRequestOf({ task, seed }: Json): WorldRequest | null {
  if (typeof task !== 'string' || task.length > MAX_TASK_CHARS) return null;
  return seed === null || !Number.isNaN(countOf(seed)) ? { task, seed: seed as number | null } : null;
}

export const NO_REQUEST: Readonly<PlayoutRequest> = { quality: null, capMs: null };

/**
 * Operator → robot, state socket, 5 Hz: claims or renews control, sets where state is sent and requests a
 * playout.
 */
export function encodeHello(
  session: number,
  out: Uint8Array,
  { quality, capMs, mode } = NO_REQUEST,
  outageHoldS = 0,
): number {
  const chosen = { ...(mode ? { way: mode } : {}), ...(outageHoldS > 0 ? { hold_s: outageHoldS } : {}) };
  if (quality === null && capMs === null) return writeFrame('hello', { session, ...chosen }, out);
  return writeFrame('hello', { session, quality, cap_ms: capMs, ...chosen }, out);
}

/**
 * The playout request of a hello; absent fields request nothing. The field `way` holds the mode. Leaves `out`
 * untouched when malformed.
 */
/** How long the robot should hold after an outage before it stops, in seconds; NaN if malformed. */
export function decodeOutageHold(bytes: Uint8Array, length: number): number {
  const holdS = frameBody(bytes, length)?.['hold_s'] ?? 0;
  return numberOf(holdS) >= 0 ? (holdS as number) : Number.NaN;
}

export function decodePlayoutRequest(bytes: Uint8Array, length: number, out: PlayoutRequest): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  const { quality = null, cap_ms: capMs = null, way = null } = body;
  const named = PLAYOUT_QUALITIES.find((name) => name === quality) ?? null;
  const chosen = PLAYOUT_MODES.find((name) => name === way) ?? null;
  if ((quality !== null && named === null) || (capMs !== null && !(numberOf(capMs) >= 0))) return 'malformed';
  if (way !== null && chosen === null) return 'malformed';
  out.quality = named;
  out.capMs = capMs as number | null;
  if (chosen !== null || out.mode !== undefined) out.mode = chosen;
  return null;
}

/** Operator → robot, state socket: gives up control. Read by `decodeHello`. */
export function encodeBye(session: number, out: Uint8Array): number {
  return writeFrame('bye', { session }, out);
}

/** The session of a hello or bye, or NaN. */
export function decodeHello(bytes: Uint8Array, length: number): number {
  return countOf(frameBody(bytes, length)?.['session']);
}
