/** Latency is reported as these four, never as a mean: its distributions are heavy-tailed. */
export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

/** Nearest-rank percentiles of the finite values; null when there are none. */
export function percentiles(values: ArrayLike<number>): Percentiles | null {
  // Compacted in place: filter() would box millions of values.
  const all = Float64Array.from(values);
  let count = 0;
  for (const value of all) if (Number.isFinite(value)) all[count++] = value;
  const sorted = all.subarray(0, count).sort();
  if (sorted.length === 0) return null;
  const at = (q: number) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted[sorted.length - 1]! };
}

/** |x_i − x_{i−1}| of consecutive values: the variation that sets controllability. */
export function variation(values: ArrayLike<number>): Float64Array {
  const out = new Float64Array(Math.max(0, values.length - 1));
  for (let i = 0; i < out.length; i++) out[i] = Math.abs(values[i + 1]! - values[i]!);
  return out;
}
