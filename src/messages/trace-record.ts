import { number, type StructOf, struct } from '../core/memory/struct-layout.ts';

/**
 * One command's stamps from headset to actuator and back. Operator stamps are on the operator's clock, remote
 * ones on the robot's; `offsetNs` (robot − operator) joins them. NaN where a stage was not reached or not
 * known.
 */
export const TRACE = struct({
  session: number,
  seq: number,
  outcome: number, // index into OUTCOMES
  reason: number, // index into REASONS when rejected, else −1
  sampledNs: number,
  pipelineDoneNs: number,
  wireSentNs: number,
  kernelNs: number,
  receiveNs: number,
  dueNs: number,
  releasedNs: number,
  appliedNs: number,
  offsetNs: number,
  uncertaintyNs: number,
  queueDepth: number,
  /** Due − stamp, independent of the clock offset. */
  playoutDelayNs: number,
  /** 1 when it arrived after it was due, else 0; NaN without a receipt. */
  late: number,
  /** Delay that the mapping's filter added before `sampledNs`: on top of the one-way time. */
  filterDelayNs: number,
  /** When the device took the sample this command follows, operator clock; NaN where it is not reported. */
  deviceNs: number,
  /** When the headset's app or page sent it, operator clock. */
  sentNs: number,
  /** When it arrived at the operator, operator clock. */
  arrivedNs: number,
  /** First state sample that shows this command's own motion, operator clock (by `offsetNs`); see `src/trace/motion.ts`. */
  movedNs: number,
  /**
   * Index into HALTS, on the first command sent after the operator learnt that the robot had halted on its own;
   * else NaN.
   */
  halt: number,
  /** When it halted, robot clock. */
  haltNs: number,
});
/** On the control thread and in rings. */
export type PackedTrace = StructOf<typeof TRACE>;
export type TraceRecord = Omit<PackedTrace, 'packed'>;

/** Halts that no person asked for: what the robot did, and why. `input`: the input device was silent. */
export const HALTS = [
  'hold:silence',
  'hold:stall',
  'hold:input',
  'hold:fault',
  'stop:silence',
  'stop:stall',
  'stop:fault',
] as const;
export type Halt = (typeof HALTS)[number];

/** A command without a receipt counts as lost, and is closed, after this long. */
export const LOST_AFTER_NS = 2e9;
export const OUTCOMES = ['applied', 'late', 'dropped-stale', 'lost', 'rejected'] as const;

/** Field order of a trace record in a ring. */
export const TRACE_FIELDS = TRACE.names;

/** The parts of the one-way time, in path order; they add up to the total. */
export const SEGMENTS = ['pipeline', 'serialise', 'wire', 'receive', 'playout', 'apply'] as const;
export type Segment = (typeof SEGMENTS)[number];

/**
 * The whole path, from the headset's sample to the joints' motion, including the parts before and after the
 * one-way time.
 */
export const HOPS = ['capture', 'uplink', 'wait', ...SEGMENTS, 'response'] as const;
export type Hop = (typeof HOPS)[number];

/** Not packed, and written out for speed: a reader of long traces creates millions of them. */
export function emptyTraceRecord(): TraceRecord {
  return {
    session: Number.NaN,
    seq: Number.NaN,
    outcome: Number.NaN,
    reason: Number.NaN,
    sampledNs: Number.NaN,
    pipelineDoneNs: Number.NaN,
    wireSentNs: Number.NaN,
    kernelNs: Number.NaN,
    receiveNs: Number.NaN,
    dueNs: Number.NaN,
    releasedNs: Number.NaN,
    appliedNs: Number.NaN,
    offsetNs: Number.NaN,
    uncertaintyNs: Number.NaN,
    queueDepth: Number.NaN,
    playoutDelayNs: Number.NaN,
    late: Number.NaN,
    filterDelayNs: Number.NaN,
    deviceNs: Number.NaN,
    sentNs: Number.NaN,
    arrivedNs: Number.NaN,
    movedNs: Number.NaN,
    halt: Number.NaN,
    haltNs: Number.NaN,
  };
}

export function packTraceRecord(record: TraceRecord, out: Float64Array): void {
  for (let i = 0; i < TRACE_FIELDS.length; i++) out[i] = record[TRACE_FIELDS[i]!];
}

export function unpackTraceRecord(packed: Float64Array, out: TraceRecord): void {
  for (let i = 0; i < TRACE_FIELDS.length; i++) out[TRACE_FIELDS[i]!] = packed[i]!;
}
