import type { Interval } from './bootstrap.ts';
import { COMPARED, type Compared, GROUP_S, type RunSample } from './run-sample.ts';

/** One figure of two runs. */
export interface Difference extends Interval {
  what: Compared | 'badSeconds';
  /** 0.5, 0.95, 0.99 of a distribution in nanoseconds; null: a share of seconds. */
  quantile: number | null;
  a: number;
  b: number;
  /**
   * `real`: 0 lies outside the 95 % interval of b − a. `clock`: so it does, but the two clock offsets may be wrong by
   * more than that. `open`: not shown.
   */
  verdict: 'real' | 'clock' | 'open';
}

const ROUNDS = 500;
const MIN_BLOCKS = 8;
const QUANTILES: Partial<Record<Compared, readonly number[]>> = {
  oneWay: [0.5, 0.95, 0.99],
  variation: [0.5, 0.99],
  handToMotion: [0.5, 0.95],
};
/** These begin and end on different clocks. */
const CROSSES_CLOCKS: readonly string[] = ['oneWay', 'wire', 'handToMotion'];

/**
 * b − a with its interval, by resampling whole groups of seconds of each run: neighbouring commands share their luck,
 * and thousands of them prove no more than the seconds they come from. Null when a run is too short to say anything.
 * `random` gives numbers in [0, 1).
 */
export function differences(a: RunSample, b: RunSample, random: () => number): Difference[] | null {
  const size = Math.max(1, Math.min(GROUP_S, Math.floor(Math.min(a.seconds.length, b.seconds.length) / 20)));
  const blocks = [a, b].map((run) => Math.floor(run.seconds.length / size));
  if (Math.min(...blocks) < MIN_BLOCKS) return null;
  const clockNs = a.uncertaintyNs + b.uncertaintyNs;
  const found: Difference[] = [];
  COMPARED.forEach((what, column) => {
    const [pooledA, pooledB] = [pooled(a, column, size), pooled(b, column, size)];
    if (pooledA.values.length === 0 || pooledB.values.length === 0) return;
    for (const quantile of QUANTILES[what] ?? [0.5, 0.95]) {
      const interval = intervalOf(pooledA, pooledB, quantile, random);
      found.push({ what, quantile, ...interval, verdict: verdictOf(what, quantile, interval, clockNs) });
    }
  });
  const seconds = badSeconds(a, b, random);
  return seconds === null ? found : [...found, seconds];
}

interface Pooled {
  /** Ascending, with the block each value came from. */
  values: Float64Array;
  block: Uint16Array;
  blocks: number;
}

function pooled(run: RunSample, column: number, size: number): Pooled {
  const blocks = Math.floor(run.seconds.length / size);
  const total = run.seconds.slice(0, blocks * size).reduce((sum, second) => sum + second[column]!.length, 0);
  const raw = new Float64Array(total);
  const from = new Uint16Array(total);
  let at = 0;
  for (let s = 0; s < blocks * size; s++)
    for (const value of run.seconds[s]![column]!) {
      from[at] = Math.floor(s / size);
      raw[at++] = value;
    }
  const order = Uint32Array.from({ length: total }, (_, i) => i).sort((x, y) => raw[x]! - raw[y]!);
  return {
    values: Float64Array.from(order, (i) => raw[i]!),
    block: Uint16Array.from(order, (i) => from[i]!),
    blocks,
  };
}

function intervalOf(
  a: Pooled,
  b: Pooled,
  q: number,
  random: () => number,
): Interval & { a: number; b: number } {
  const estimates = new Float64Array(ROUNDS);
  for (let round = 0; round < ROUNDS; round++)
    estimates[round] = drawnQuantile(b, q, random) - drawnQuantile(a, q, random);
  const plain = (p: Pooled) => p.values[Math.max(0, Math.ceil(q * p.values.length) - 1)]!;
  return { a: plain(a), b: plain(b), value: plain(b) - plain(a), ...middle95(estimates) };
}

/** Nearest rank of the values of blocks drawn with replacement, without building them. */
function drawnQuantile({ values, block, blocks }: Pooled, q: number, random: () => number): number {
  const times = new Uint16Array(blocks);
  for (let i = 0; i < blocks; i++) times[Math.floor(random() * blocks)]!++;
  let total = 0;
  for (let i = 0; i < block.length; i++) total += times[block[i]!]!;
  let left = Math.ceil(q * total);
  for (let i = 0; i < values.length; i++) {
    left -= times[block[i]!]!;
    if (left <= 0) return values[i]!;
  }
  return values.at(-1) ?? Number.NaN;
}

function verdictOf(
  what: string,
  quantile: number,
  { low, high, value }: Interval,
  clockNs: number,
): Difference['verdict'] {
  if (!(low > 0 || high < 0)) return 'open';
  // An offset that is wrong moves every quantile alike; how commands vary it leaves alone.
  return CROSSES_CLOCKS.includes(what) && quantile > 0 && Math.abs(value) <= clockNs ? 'clock' : 'real';
}

function badSeconds(a: RunSample, b: RunSample, random: () => number): Difference | null {
  const blocksOf = (run: RunSample) => {
    const out: number[] = [];
    const { seconds } = run.feel;
    for (let i = 0; i + GROUP_S <= seconds.length; i += GROUP_S)
      out.push(seconds.slice(i, i + GROUP_S).filter(({ isBad }) => isBad).length / GROUP_S);
    return out;
  };
  const [x, y] = [blocksOf(a), blocksOf(b)];
  if (Math.min(x.length, y.length) < MIN_BLOCKS) return null;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const drawn = (values: readonly number[]) =>
    mean(values.map(() => values[Math.floor(random() * values.length)]!));
  const interval = {
    value: mean(y) - mean(x),
    ...middle95(Float64Array.from({ length: ROUNDS }, () => drawn(y) - drawn(x))),
  };
  const verdict = interval.low > 0 || interval.high < 0 ? 'real' : 'open';
  return { what: 'badSeconds', quantile: null, a: mean(x), b: mean(y), ...interval, verdict };
}

function middle95(estimates: Float64Array): { low: number; high: number } {
  estimates.sort();
  return { low: estimates[Math.floor(0.025 * ROUNDS)]!, high: estimates[Math.ceil(0.975 * ROUNDS) - 1]! };
}
