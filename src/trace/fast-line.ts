import { emptyTraceRecord, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import { READ_STAMPS } from './stamps.ts';

const DASH = 0x2d;
const ZERO = 0x30;
const COMMA = 0x2c;
const CLOSE = 0x7d;
const SEQ_LIMIT = 2 ** 32;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const NULL = bytesOf('null');
const HEAD = bytesOf('{"kind":"teleop_cmd","trace_id":"');
const SEQ = bytesOf('","seq":');
const OUTCOME = bytesOf(',"outcome":"');
const STAMPS_HEAD = bytesOf('","stamps":{');
const STAMP_KEYS = READ_STAMPS.map(([name, field]) => ({ key: bytesOf(`"${name}":`), field }));
const OUTCOME_WORDS = OUTCOMES.map((word) => bytesOf(word));
const REST = (
  [
    ['},"clock_offset_ns":', 'offsetNs'],
    [',"clock_uncertainty_ns":', 'uncertaintyNs'],
    [',"queue_depth":', 'queueDepth'],
    [',"playout_delay_ns":', 'playoutDelayNs'],
    [',"late":', 'late'],
  ] as const
).map(([key, field]) => ({ key: bytesOf(key), field }));
const FILTER = bytesOf(',"filter_delay_ns":');

/**
 * Reads a command line that is byte for byte what `traceLine` writes, three times as fast as JSON.parse.
 * Returns null for anything else, however valid: use `parseTraceLine` then. A ten-hour trace has millions of
 * lines.
 */
export function fastCommand(bytes: Uint8Array, start: number, end: number): TraceRecord | null {
  cursor.bytes = bytes;
  cursor.at = start;
  if (!take(HEAD)) return null;
  const record = emptyTraceRecord();
  record.reason = -1;
  record.session = hexadecimal();
  if (bytes[cursor.at++] !== DASH) return null;
  record.seq = whole();
  if (!take(SEQ) || whole() !== record.seq || !(record.seq < SEQ_LIMIT) || !take(OUTCOME)) return null;
  record.outcome = OUTCOME_WORDS.findIndex(take);
  if (record.outcome < 0 || !take(STAMPS_HEAD)) return null;
  if (!takeStamps(record)) return null;
  for (const { key, field } of REST) {
    if (!take(key)) return null;
    if (!takeOrNull(record, field)) return null;
  }
  if (take(FILTER) && !takeOrNull(record, 'filterDelayNs')) return null;
  return bytes[cursor.at] === CLOSE && cursor.at + 1 === end && !Number.isNaN(record.session) ? record : null;
}

const cursor: { bytes: Uint8Array; at: number } = { bytes: new Uint8Array(0), at: 0 };

function take(literal: Uint8Array): boolean {
  const { bytes, at } = cursor;
  const { length } = literal;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== literal[i]) return false;
  cursor.at = at + length;
  return true;
}

function takeStamps(record: TraceRecord): boolean {
  let isFirst = true;
  for (const { key, field } of STAMP_KEYS) {
    const before = cursor.at;
    if (!isFirst && cursor.bytes[cursor.at++] !== COMMA) {
      cursor.at = before;
      return true;
    }
    if (!take(key)) {
      cursor.at = before;
      continue;
    }
    const value = whole();
    if (Number.isNaN(value)) return false;
    record[field] = value;
    isFirst = false;
  }
  return true;
}

function takeOrNull(record: TraceRecord, field: keyof TraceRecord): boolean {
  if (take(NULL)) return true;
  record[field] = whole();
  return !Number.isNaN(record[field]);
}

/** NaN if there is no integer, or one that is not exact. */
function whole(): number {
  const { bytes } = cursor;
  let { at } = cursor;
  const isNegative = bytes[at] === DASH;
  if (isNegative) at++;
  const first = at;
  let value = 0;
  for (;;) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
    at++;
  }
  const digits = at - first;
  if (digits === 0 || digits > 16 || value > Number.MAX_SAFE_INTEGER) return Number.NaN;
  if (digits > 1 && bytes[first] === ZERO) return Number.NaN;
  cursor.at = at;
  return isNegative ? -value : value;
}

function hexadecimal(): number {
  const { bytes } = cursor;
  let value = 0;
  let digits = 0;
  for (; digits <= 13; digits++) {
    const byte = bytes[cursor.at]!;
    const digit = byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : byte - ZERO;
    if (!(digit >= 0 && digit < 16) || (byte > 0x39 && byte < 0x61)) break;
    value = value * 16 + digit;
    cursor.at++;
  }
  return digits >= 1 && digits <= 13 ? value : Number.NaN;
}
