/** An estimate with its 95 % confidence interval. */
export interface Interval {
  value: number;
  low: number;
  high: number;
}

const ROUNDS = 1000;

/** Nearest-rank quantile of pooled values. */
export function pooledQuantile(groups: readonly Float64Array[], q: number): number {
  const all = new Float64Array(groups.reduce((sum, group) => sum + group.length, 0));
  let at = 0;
  for (const group of groups) {
    all.set(group, at);
    at += group.length;
  }
  all.sort();
  return all[Math.max(0, Math.ceil(q * all.length) - 1)] ?? Number.NaN;
}

/**
 * Bootstrap over whole slices, because neighbouring ticks are correlated and a single tick proves little.
 * `random` returns numbers in [0, 1).
 */
export function sliceInterval(slices: readonly Float64Array[], q: number, random: () => number): Interval {
  const estimates = Array.from({ length: ROUNDS }, () => pooledQuantile(resample(slices, random), q));
  return { value: pooledQuantile(slices, q), ...middle95(estimates) };
}

/** a − b at the same quantile; slices are paired in time, so each round draws the same pairs for both. */
export function differenceInterval(
  a: readonly Float64Array[],
  b: readonly Float64Array[],
  q: number,
  random: () => number,
): Interval {
  const pairs = Math.min(a.length, b.length);
  const estimates = Array.from({ length: ROUNDS }, () => {
    const drawn = Array.from({ length: pairs }, () => Math.floor(random() * pairs));
    return (
      pooledQuantile(
        drawn.map((i) => a[i]!),
        q,
      ) -
      pooledQuantile(
        drawn.map((i) => b[i]!),
        q,
      )
    );
  });
  return { value: pooledQuantile(a, q) - pooledQuantile(b, q), ...middle95(estimates) };
}

function resample(slices: readonly Float64Array[], random: () => number): Float64Array[] {
  return slices.map(() => slices[Math.floor(random() * slices.length)]!);
}

function middle95(estimates: number[]): { low: number; high: number } {
  const sorted = estimates.sort((x, y) => x - y);
  return { low: sorted[Math.floor(0.025 * ROUNDS)]!, high: sorted[Math.ceil(0.975 * ROUNDS) - 1]! };
}
