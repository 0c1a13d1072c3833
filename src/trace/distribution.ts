import { type Percentiles, percentiles, variation } from '../core/percentiles.ts';
import type { Column } from './columns.ts';

export interface SegmentReport {
  latencyNs: Percentiles | null;
  /** |x_i − x_{i−1}| between consecutive applied commands of one session, in order of sequence number. */
  variationNs: Percentiles | null;
}

/** A sort key is the session in order of appearance × this + sequence number. */
export const SESSION_STEP = 2 ** 32;

/**
 * Indices that put the keys in ascending order, stable; null when they are already. A merge sort on typed arrays: the
 * built-in sort with a comparison boxes every element, 100 MB for a ten-hour trace.
 */
export function sortedOrder(keys: Column): Uint32Array | null {
  const values = keys.toFloat64();
  if (values.every((value, i) => i === 0 || value >= values[i - 1]!)) return null;
  let from = new Uint32Array(values.length);
  for (let i = 0; i < from.length; i++) from[i] = i;
  let to = from.slice();
  for (let run = 1; run < values.length; run *= 2) {
    for (let start = 0; start < values.length; start += 2 * run) mergeRuns(values, from, to, start, run);
    [from, to] = [to, from];
  }
  return from;
}

function mergeRuns(
  values: Float64Array,
  from: Uint32Array,
  to: Uint32Array,
  start: number,
  run: number,
): void {
  const mid = Math.min(start + run, from.length);
  const end = Math.min(mid + run, from.length);
  let left = start;
  let right = mid;
  for (let i = start; i < end; i++) {
    const takeLeft = left < mid && (right >= end || values[from[left]!]! <= values[from[right]!]!);
    to[i] = from[takeLeft ? left++ : right++]!;
  }
}

/** Positions whose successor belongs to another session. */
export function sessionBreaks(keys: Column, order: Uint32Array | null): number[] {
  const values = keys.toFloat64(order);
  const breaks: number[] = [];
  for (let i = 1; i < values.length; i++) {
    if (Math.floor(values[i]! / SESSION_STEP) !== Math.floor(values[i - 1]! / SESSION_STEP))
      breaks.push(i - 1);
  }
  return breaks;
}

export function distribution(column: Column, order: Uint32Array | null, breaks: number[]): SegmentReport {
  const values = column.toFloat64(order);
  const steps = variation(values);
  for (const i of breaks) steps[i] = Number.NaN;
  return { latencyNs: percentiles(values), variationNs: percentiles(steps) };
}
