import { REASONS, type Reason } from '../core/counters.ts';
import { emptyTraceRecord, HALTS, type Halt, OUTCOMES, type TraceRecord } from '../messages/trace-record.ts';
import { type TouchRecord, touchOf } from './touch.ts';
import { type VideoRecord, videoOf } from './video.ts';

/** The lines of a trace file, specified in `protocol/trace.md`. */
export const TRACE_FORMAT = 'farhand-trace/1';

/**
 * Stamp names and fields: first the one-way path in order, then what lies before and after it. Names under
 * `remote.` are on the robot clock, the rest on the operator clock.
 */
export const STAMPS = [
  ['operator.sampled', 'sampledNs'],
  ['operator.pipeline_done', 'pipelineDoneNs'],
  ['command_wire_sent', 'wireSentNs'],
  ['remote.kernel_received', 'kernelNs'],
  ['remote.follower.receive', 'receiveNs'],
  ['remote.follower.due', 'dueNs'],
  ['remote.follower.released', 'releasedNs'],
  ['remote.follower.applied', 'appliedNs'],
  ['device.sampled', 'deviceNs'],
  ['device.sent', 'sentNs'],
  ['device.arrived', 'arrivedNs'],
  ['follower.moved', 'movedNs'],
] as const satisfies readonly (readonly [string, keyof TraceRecord])[];

/** Every name a reader accepts: traces of earlier versions use `leader.get_state` for `operator.sampled`. */
export const READ_STAMPS = [['leader.get_state', 'sampledNs'], ...STAMPS] as const;

/** What is known when a trace is opened. */
export interface TraceSession {
  startedAt: Date;
  session: number;
  role: string;
  /** Where `remote.kernel_received` and `remote.follower.receive` come from. */
  stampSource: 'kernel' | 'userspace';
  /** Of the writer's control thread. */
  scheduling?: string;
  playout: string;
  /** The rig as parsed; anything JSON can hold. */
  rig: Record<string, unknown>;
}

export interface TraceHeader {
  kind: 'header';
  startedAt: string;
  session: number;
  role: string;
  stampSource: string;
  scheduling?: string;
  playout: string;
  part: number;
  rig: Record<string, unknown>;
}

export interface TraceFooter {
  kind: 'footer';
  /** Command lines in this part. */
  closed: number;
  /** Commands that were closed but never reached the file. */
  ringDropped: number;
  /** Number of the part that continues this one; null in the last one. */
  nextPart: number | null;
}

/** Result of correlating commanded and measured joints; see `motion-latency.ts`. */
export interface TraceMotion {
  /** Operator clock. */
  atNs: number;
  latencyNs: number;
  confidence: number;
}

export type BadLineReason = 'bad-json' | 'malformed' | 'unsupported-format';

export type ParsedLine =
  | { kind: 'command'; record: TraceRecord }
  | TraceHeader
  | TraceFooter
  | { kind: 'motion'; motion: TraceMotion }
  | { kind: 'video'; frame: VideoRecord }
  | { kind: 'touch'; touch: TouchRecord }
  | { kind: 'unknown' }
  | { kind: 'bad'; reason: BadLineReason };

export function sessionHex(session: number): string {
  return session.toString(16).padStart(8, '0');
}

/** Whole nanoseconds; NaN is omitted from `stamps` and null elsewhere. No trailing line break. */
export function traceLine(record: TraceRecord): string {
  let stamps = '';
  for (const [name, field] of STAMPS) {
    if (Number.isNaN(record[field])) continue;
    stamps += `${stamps === '' ? '' : ','}"${name}":${Math.round(record[field])}`;
  }
  const filter = Number.isNaN(record.filterDelayNs)
    ? ''
    : `,"filter_delay_ns":${Math.round(record.filterDelayNs)}`;
  const halt = Number.isNaN(record.halt)
    ? ''
    : `,"halt":"${HALTS[record.halt]}","halt_ns":${wholeOrNull(record.haltNs)}`;
  const id = `${sessionHex(record.session)}-${record.seq}`;
  return (
    `{"kind":"teleop_cmd","trace_id":"${id}","seq":${record.seq},"outcome":"${outcomeText(record)}",` +
    `"stamps":{${stamps}},"clock_offset_ns":${wholeOrNull(record.offsetNs)},` +
    `"clock_uncertainty_ns":${wholeOrNull(record.uncertaintyNs)},"queue_depth":${wholeOrNull(record.queueDepth)},` +
    `"playout_delay_ns":${wholeOrNull(record.playoutDelayNs)},"late":${wholeOrNull(record.late)}${filter}${halt}}`
  );
}

export function headerLine(session: TraceSession, part = 1): string {
  return JSON.stringify({
    kind: 'header',
    format: TRACE_FORMAT,
    started_at: session.startedAt.toISOString(),
    session: session.session,
    role: session.role,
    stamp_source: session.stampSource,
    ...(session.scheduling === undefined ? {} : { scheduling: session.scheduling }),
    playout: session.playout,
    part,
    rig: session.rig,
  });
}

export function footerLine(closed: number, ringDropped: number, nextPart: number | null = null): string {
  const next = nextPart === null ? {} : { next_part: nextPart };
  return JSON.stringify({ kind: 'footer', closed, ring_dropped: ringDropped, ...next });
}

export function motionLine({ atNs, latencyNs, confidence }: TraceMotion): string {
  const [at, latency] = [Math.round(atNs), Math.round(latencyNs)];
  return `{"kind":"motion","at_ns":${at},"latency_ns":${latency},"confidence":${confidence.toFixed(4)}}`;
}

/** Never throws. `unknown` is a well-formed line of a kind this version does not read: skip it. */
export function parseTraceLine(text: string): ParsedLine {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return { kind: 'bad', reason: 'bad-json' };
  }
  if (!isObject(line)) return MALFORMED;
  if (line['kind'] === 'teleop_cmd') return parseCommand(line);
  if (line['kind'] === 'header') return parseHeader(line);
  if (line['kind'] === 'footer') return parseFooter(line);
  if (line['kind'] === 'motion') return parseMotion(line);
  if (line['kind'] === 'video_frame') return parseVideo(line);
  if (line['kind'] === 'touch') return parseTouch(line);
  return typeof line['kind'] === 'string' ? { kind: 'unknown' } : MALFORMED;
}

type JsonObject = Record<string, unknown>;

const MALFORMED = { kind: 'bad', reason: 'malformed' } as const;
const REJECTED = OUTCOMES.indexOf('rejected');
const REJECTED_PREFIX = 'rejected:';
const SEQ_LIMIT = 2 ** 32;

function parseCommand(line: JsonObject): ParsedLine {
  const { trace_id: id, seq, outcome, stamps } = line;
  if (typeof id !== 'string' || typeof outcome !== 'string' || !isObject(stamps)) return MALFORMED;
  if (!isCount(seq) || seq >= SEQ_LIMIT) return MALFORMED;
  const record = emptyTraceRecord();
  record.seq = seq;
  record.session = sessionOf(id, seq);
  record.outcome = outcome.startsWith(REJECTED_PREFIX) ? REJECTED : OUTCOMES.indexOf(outcome as 'applied');
  record.reason = REASONS.indexOf(outcome.slice(REJECTED_PREFIX.length) as Reason);
  if (Number.isNaN(record.session) || record.outcome < 0) return MALFORMED;
  if (record.outcome !== REJECTED) record.reason = -1;
  for (const [name, field] of READ_STAMPS) if (!take(stamps[name], record, field)) return MALFORMED;
  const known =
    take(line['clock_offset_ns'], record, 'offsetNs') &&
    take(line['clock_uncertainty_ns'], record, 'uncertaintyNs') &&
    take(line['queue_depth'], record, 'queueDepth') &&
    take(line['playout_delay_ns'], record, 'playoutDelayNs') &&
    take(line['late'], record, 'late') &&
    take(line['filter_delay_ns'], record, 'filterDelayNs') &&
    take(line['halt_ns'], record, 'haltNs') &&
    takeHalt(line['halt'], record);
  return known ? { kind: 'command', record } : MALFORMED;
}

/** Unknown kinds of halt are of a later version: read as none. */
function takeHalt(value: unknown, record: TraceRecord): boolean {
  if (value === undefined || value === null) return true;
  const halt = HALTS.indexOf(value as Halt);
  if (halt >= 0) record.halt = halt;
  return typeof value === 'string';
}

function parseHeader(line: JsonObject): ParsedLine {
  const { format, started_at: startedAt, session, role, stamp_source: stampSource, playout, rig } = line;
  if (typeof format !== 'string') return MALFORMED;
  if (format !== TRACE_FORMAT) return { kind: 'bad', reason: 'unsupported-format' };
  if (typeof startedAt !== 'string' || typeof role !== 'string' || !isCount(session)) return MALFORMED;
  if (typeof stampSource !== 'string' || typeof playout !== 'string' || !isObject(rig)) return MALFORMED;
  const { part = 1, scheduling } = line;
  if (!isCount(part)) return MALFORMED;
  if (scheduling !== undefined && typeof scheduling !== 'string') return MALFORMED;
  const known = scheduling === undefined ? {} : { scheduling };
  return { kind: 'header', startedAt, session, role, stampSource, playout, part, rig, ...known };
}

function parseFooter(line: JsonObject): ParsedLine {
  const { closed, ring_dropped: ringDropped, next_part: nextPart = null } = line;
  if (!isCount(closed) || !isCount(ringDropped)) return MALFORMED;
  if (nextPart !== null && !isCount(nextPart)) return MALFORMED;
  return { kind: 'footer', closed, ringDropped, nextPart };
}

function parseMotion({ at_ns: atNs, latency_ns: latencyNs, confidence }: JsonObject): ParsedLine {
  if (!Number.isSafeInteger(atNs) || !Number.isSafeInteger(latencyNs)) return MALFORMED;
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) return MALFORMED;
  return { kind: 'motion', motion: { atNs: atNs as number, latencyNs: latencyNs as number, confidence } };
}

function parseVideo(line: JsonObject): ParsedLine {
  const frame = videoOf(line);
  return frame === null ? MALFORMED : { kind: 'video', frame };
}

function parseTouch(line: JsonObject): ParsedLine {
  const touch = touchOf(line);
  return touch === null ? MALFORMED : { kind: 'touch', touch };
}

/** A rejection with an unnumbered reason is written, and read back, as `rejected:unknown`. */
function outcomeText(record: TraceRecord): string {
  const outcome = OUTCOMES[record.outcome];
  if (outcome === undefined)
    throw new Error(`outcome ${record.outcome} of command ${record.seq} has no name`);
  return outcome === 'rejected' ? `${REJECTED_PREFIX}${REASONS[record.reason] ?? 'unknown'}` : outcome;
}

function wholeOrNull(value: number): string {
  return Number.isNaN(value) ? 'null' : String(Math.round(value));
}

/** NaN unless `id` is `<session hex>-<seq>`. */
function sessionOf(id: string, seq: number): number {
  const dash = id.lastIndexOf('-');
  const hex = id.slice(0, dash);
  if (dash < 1 || id.slice(dash + 1) !== String(seq) || !/^[0-9a-f]{1,13}$/.test(hex)) return Number.NaN;
  return Number.parseInt(hex, 16);
}

/** False if `value` is present but not a number that is exact in nanoseconds. */
function take(value: unknown, record: TraceRecord, field: keyof TraceRecord): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'number' || !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) return false;
  record[field] = value;
  return true;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
