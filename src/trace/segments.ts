import type { TraceRecord } from '../messages/trace-record.ts';

/**
 * Durations of one command in the order of SEGMENTS; `out` has SEGMENTS.length elements. Hot path.
 *
 * - If all are known they add up to `oneWayNs` exactly: every stamp and the offset are rounded to nanoseconds.
 * - No kernel stamp: `wire` ends at the robot's receive and `receive` is 0.
 * - Applied without a released stamp: `playout` is 0 and `apply` starts at the robot's receive.
 * - NaN if a stage was not reached, and for `wire` (which crosses clocks) before the first offset.
 * - `wire` can be negative by the error of the offset.
 */
export function segmentsNs(record: TraceRecord, out: Float64Array): void {
  const pipelineDoneNs = Math.round(record.pipelineDoneNs);
  const wireSentNs = Math.round(record.wireSentNs);
  const receiveNs = Math.round(record.receiveNs);
  const appliedNs = Math.round(record.appliedNs);
  const arrivedNs = Number.isNaN(record.kernelNs) ? receiveNs : Math.round(record.kernelNs);
  const unreleased = Number.isNaN(record.releasedNs) && !Number.isNaN(appliedNs);
  const releasedNs = unreleased ? receiveNs : Math.round(record.releasedNs);
  out[0] = pipelineDoneNs - Math.round(record.sampledNs);
  out[1] = wireSentNs - pipelineDoneNs;
  out[2] = arrivedNs - Math.round(record.offsetNs) - wireSentNs;
  out[3] = receiveNs - arrivedNs;
  out[4] = releasedNs - receiveNs;
  out[5] = appliedNs - releasedNs;
}

/** From sampling the hand to the driver's return, operator clock; NaN if not applied or before an offset. */
export function oneWayNs(record: TraceRecord): number {
  return Math.round(record.appliedNs) - Math.round(record.offsetNs) - Math.round(record.sampledNs);
}

/**
 * Durations of all hops in the order of HOPS; `out` has HOPS.length elements. Hot path.
 *
 * - `capture` (device → sent), `uplink` (sent → arrived) and `wait` (arrived → sampled) add up to sampled − device.
 *   The time of an unknown stamp goes to the next hop, so `capture` and `uplink` are 0 if the sender's or the
 *   arrival's stamp is missing. All three are NaN if neither device nor arrival is known.
 * - `response` (applied → moved) needs no offset: the robot took both stamps.
 */
export function hopsNs(record: TraceRecord, out: Float64Array): void {
  const deviceNs = Math.round(record.deviceNs);
  const arrivedNs = Math.round(record.arrivedNs);
  const sentNs = Number.isNaN(record.sentNs) ? deviceNs : Math.round(record.sentNs);
  const receivedNs = Number.isNaN(arrivedNs) ? sentNs : arrivedNs;
  segmentsNs(record, out);
  out.copyWithin(3, 0, 6);
  out[0] = sentNs - deviceNs;
  out[1] = receivedNs - sentNs;
  out[2] = Math.round(record.sampledNs) - receivedNs;
  out[9] = Math.round(record.movedNs) - (Math.round(record.appliedNs) - Math.round(record.offsetNs));
}

/** From the device's sample, or its arrival if unknown, to the joints' motion; NaN if not seen. */
export function handToMotionNs(record: TraceRecord): number {
  const fromNs = Number.isNaN(record.deviceNs) ? record.arrivedNs : record.deviceNs;
  return Math.round(record.movedNs) - Math.round(fromNs);
}
