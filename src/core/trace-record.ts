/**
 * One command's stamps from hand to actuator. Operator stamps are in the operator's clock, remote ones in the
 * robot's; `offsetNs` (robot − operator) joins them. NaN where a stage was not reached or not known.
 */
export interface TraceRecord {
  session: number;
  seq: number;
  outcome: number; // index into OUTCOMES
  reason: number; // index into REASONS when rejected, else −1
  getStateNs: number;
  pipelineDoneNs: number;
  wireSentNs: number;
  kernelNs: number;
  receiveNs: number;
  dueNs: number;
  releasedNs: number;
  appliedNs: number;
  offsetNs: number;
  uncertaintyNs: number;
  queueDepth: number;
  /** Due − stamp, whatever the clock offset. */
  playoutDelayNs: number;
  /** 1 when it arrived after it was due, else 0; NaN without a receipt. */
  late: number;
  /** Delay that the mapping's filter added before `getStateNs`, as it were: on top of the one-way time. */
  filterDelayNs: number;
}

export const OUTCOMES = ['applied', 'late', 'dropped-stale', 'lost', 'rejected'] as const;

/** Field order of a trace record in a ring. */
export const TRACE_FIELDS = [
  'session',
  'seq',
  'outcome',
  'reason',
  'getStateNs',
  'pipelineDoneNs',
  'wireSentNs',
  'kernelNs',
  'receiveNs',
  'dueNs',
  'releasedNs',
  'appliedNs',
  'offsetNs',
  'uncertaintyNs',
  'queueDepth',
  'playoutDelayNs',
  'late',
  'filterDelayNs',
] as const satisfies readonly (keyof TraceRecord)[];

/** The parts of the one-way time, in path order; they add up to the total. */
export const SEGMENTS = ['pipeline', 'serialise', 'wire', 'receive', 'playout', 'apply'] as const;
export type Segment = (typeof SEGMENTS)[number];

export function emptyTraceRecord(): TraceRecord {
  const record = {} as TraceRecord;
  for (const field of TRACE_FIELDS) record[field] = Number.NaN;
  return record;
}

/** Hot path. */
export function packTraceRecord(record: TraceRecord, out: Float64Array): void {
  for (let i = 0; i < TRACE_FIELDS.length; i++) out[i] = record[TRACE_FIELDS[i]!];
}

export function unpackTraceRecord(packed: Float64Array, out: TraceRecord): void {
  for (let i = 0; i < TRACE_FIELDS.length; i++) out[TRACE_FIELDS[i]!] = packed[i]!;
}
