import { REASONS, type Reason } from '../../core/counters.ts';
import type { Outcome, Receipt } from '../../messages/receipt.ts';
import { countOf, frameBody, stampFromJson, stampToJson, writeFrame } from './frame.ts';

const FIXED = new Set<string>(['applied', 'late', 'dropped-stale']);
const KNOWN = new Set<string>(REASONS);

/** Robot → operator, command socket: the robot's own stamps of one command. */
export function encodeReceipt(receipt: Receipt, out: Uint8Array): number {
  const body = {
    session: receipt.session,
    seq: receipt.seq,
    outcome: receipt.outcome,
    kernel_ns: stampToJson(receipt.kernelNs),
    receive_ns: stampToJson(receipt.receiveNs),
    due_ns: stampToJson(receipt.dueNs),
    released_ns: stampToJson(receipt.releasedNs),
    applied_ns: stampToJson(receipt.appliedNs),
    playout_ns: stampToJson(receipt.playoutDelayNs),
    depth: receipt.queueDepth,
    late: receipt.late,
    dropped: receipt.dropped,
  };
  return writeFrame('receipt', body, out);
}

export function decodeReceipt(bytes: Uint8Array, length: number, out: Receipt): Reason | null {
  const body = frameBody(bytes, length);
  if (body === null) return 'bad-json';
  out.session = countOf(body['session']);
  out.seq = countOf(body['seq']);
  out.queueDepth = countOf(body['depth']);
  if (Number.isNaN(out.session + out.seq + out.queueDepth) || !isOutcome(body['outcome'])) return 'malformed';
  if (typeof body['late'] !== 'boolean' || typeof body['dropped'] !== 'boolean') return 'malformed';
  out.late = body['late'];
  out.dropped = body['dropped'];
  out.outcome = body['outcome'];
  out.kernelNs = stampFromJson(body['kernel_ns']);
  out.receiveNs = stampFromJson(body['receive_ns']);
  out.dueNs = stampFromJson(body['due_ns']);
  out.releasedNs = stampFromJson(body['released_ns']);
  out.appliedNs = stampFromJson(body['applied_ns']);
  out.playoutDelayNs = stampFromJson(body['playout_ns']);
  return Number.isNaN(out.receiveNs) ? 'malformed' : null;
}

function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'string') return false;
  return FIXED.has(value) || (value.startsWith('rejected:') && KNOWN.has(value.slice('rejected:'.length)));
}

export function emptyReceipt(): Receipt {
  const nothing = Number.NaN;
  return {
    session: 0,
    seq: 0,
    outcome: 'applied',
    kernelNs: nothing,
    receiveNs: nothing,
    dueNs: nothing,
    releasedNs: nothing,
    appliedNs: nothing,
    playoutDelayNs: nothing,
    queueDepth: 0,
    late: false,
    dropped: false,
  };
}
