import { REASONS, type Reason } from '../../core/counters.ts';
import type { Outcome, Receipt } from '../../messages/receipt.ts';
import { countOf, frameBody, stampFromJson } from './frame.ts';
import { choiceBytes, JsonReader } from './json-reader.ts';
import { JsonWriter, keyBytes, TextBytes } from './json-writer.ts';

const FIXED = new Set<string>(['applied', 'late', 'dropped-stale']);
const KNOWN = new Set<string>(REASONS);

const KEYS = [
  ...['session', 'seq', 'kernel_ns', 'receive_ns', 'due_ns', 'released_ns', 'applied_ns', 'playout_ns'],
  'depth',
].map(keyBytes);
const [OUTCOME, LATE, DROPPED] = ['outcome', 'late', 'dropped'].map(keyBytes) as [
  Uint8Array,
  ...[Uint8Array, Uint8Array],
];
const writer = new JsonWriter();
const reader = new JsonReader();
const outcomeText = new TextBytes();
/** Outcomes that a command may have several times a second. */
const USUAL: readonly Outcome[] = ['applied', 'late', 'dropped-stale'];
const USUAL_BYTES = choiceBytes(USUAL);

/** Robot → operator, command socket: the robot's own stamps of one command. */
export function encodeReceipt(receipt: Receipt, out: Uint8Array): number {
  const { numbers } = writer;
  numbers[0] = receipt.session;
  numbers[1] = receipt.seq;
  numbers[2] = receipt.kernelNs;
  numbers[3] = receipt.receiveNs;
  numbers[4] = receipt.dueNs;
  numbers[5] = receipt.releasedNs;
  numbers[6] = receipt.appliedNs;
  numbers[7] = receipt.playoutDelayNs;
  numbers[8] = receipt.queueDepth;
  writer.begin('receipt', out);
  for (let i = 0; i < KEYS.length; i++) {
    if (i === 2) {
      writer.key(OUTCOME);
      writer.bytes(outcomeText.of(receipt.outcome));
    }
    writer.key(KEYS[i]!);
    writer.number(i, 0);
  }
  writer.key(LATE);
  writer.flag(receipt.late);
  writer.key(DROPPED);
  writer.flag(receipt.dropped);
  return writer.end();
}

/** True if it stands as our own encoder writes it; else its JSON decides. */
function readReceipt(bytes: Uint8Array, length: number, out: Receipt): boolean {
  const { numbers } = reader;
  reader.begin(bytes, length);
  for (let i = 0; i < KEYS.length; i++) {
    if (i === 2) {
      reader.key(OUTCOME);
      out.outcome = USUAL[reader.choice(USUAL_BYTES)] ?? 'applied';
    }
    reader.key(KEYS[i]!);
    if (i < 2 || i === 8) reader.count(i);
    else reader.stamp(i);
  }
  reader.key(LATE);
  out.late = reader.flag();
  reader.key(DROPPED);
  out.dropped = reader.flag();
  out.session = numbers[0]!;
  out.seq = numbers[1]!;
  out.kernelNs = numbers[2]!;
  out.receiveNs = numbers[3]!;
  out.dueNs = numbers[4]!;
  out.releasedNs = numbers[5]!;
  out.appliedNs = numbers[6]!;
  out.playoutDelayNs = numbers[7]!;
  out.queueDepth = numbers[8]!;
  return reader.end() && !Number.isNaN(out.receiveNs);
}

export function decodeReceipt(bytes: Uint8Array, length: number, out: Receipt): Reason | null {
  if (readReceipt(bytes, length, out)) return null;
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

/** Hot path. */
export function copyReceipt(from: Receipt, to: Receipt): void {
  to.session = from.session;
  to.seq = from.seq;
  to.outcome = from.outcome;
  to.kernelNs = from.kernelNs;
  to.receiveNs = from.receiveNs;
  to.dueNs = from.dueNs;
  to.releasedNs = from.releasedNs;
  to.appliedNs = from.appliedNs;
  to.playoutDelayNs = from.playoutDelayNs;
  to.queueDepth = from.queueDepth;
  to.late = from.late;
  to.dropped = from.dropped;
}
