import type { Interval } from './bootstrap.ts';
import { COMPARED, type Compared, GROUP_S, type RunSample } from './run-sample.ts';

const COUNTED = ['holds', 'stops', 'refused'] as const;

/** One figure of two runs. */
export interface Difference extends Interval {
  what: Compared | 'badSeconds' | (typeof COUNTED)[number];
  /** 0.5, 0.95 or 0.99 of a distribution in nanoseconds; null for a share of seconds and for counts. */
  quantile: number | null;
  a: number;
  b: number;
  /**
   * `real`: 0 lies outside the 95 % interval of b − a. `clock`: likewise, but the uncertainty of the clock
   * offsets is larger than the difference. `open`: no evidence of a difference. `counted`: too few seconds, or events
   * too rare, for an interval; `low` and `high` are NaN.
   */
  verdict: 'real' | 'clock' | 'open' | 'counted';
}

const ROUNDS = 400;
const MIN_BLOCKS = 8;
const QUANTILES: Partial<Record<Compared, readonly number[]>> = {
  oneWay: [0.5, 0.95, 0.99],
  variation: [0.5, 0.99],
  handToMotion: [0.5, 0.95],
};
/** These start and end on different clocks. */
const CROSSES_CLOCKS: readonly string[] = ['oneWay', 'wire', 'handToMotion'];

/**
 * b − a with its interval, by resampling whole groups of seconds of each run: neighbouring commands are
 * correlated, so thousands of them prove no more than the seconds they come from. Null if a run is too short.
 * `random` returns numbers in [0, 1).
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
    const wanted = QUANTILES[what] ?? [0.5, 0.95];
    intervalsOf(pooledA, pooledB, wanted, random).forEach((interval, i) => {
      found.push({ what, quantile: wanted[i]!, ...interval, verdict: verdictOf(what, interval, clockNs) });
    });
  });
  return [
    ...found,
    ...(badSeconds(a, b, random) ?? []),
    ...COUNTED.map((what) => counted(what, a.feel[what], b.feel[what])),
  ];
}

const counted = (what: Difference['what'], a: number, b: number): Difference => ({
  ...{ what, quantile: null, a, b, value: b - a },
  ...{ low: Number.NaN, high: Number.NaN, verdict: 'counted' },
});

interface Pooled {
  /** Ascending, with the block each value came from. */
  values: Float64Array;
  block: Uint16Array;
  /** How many values each block has. */
  sizes: Float64Array;
}

function pooled(run: RunSample, column: number, size: number): Pooled {
  const sizes = new Float64Array(Math.floor(run.seconds.length / size));
  const seconds = run.seconds.slice(0, sizes.length * size).map((columns) => columns[column]!);
  seconds.forEach((values, s) => {
    sizes[Math.floor(s / size)]! += values.length;
  });
  const total = sizes.reduce((sum, n) => sum + n, 0);
  const raw = new Float64Array(total);
  const from = new Uint16Array(total);
  let at = 0;
  seconds.forEach((values, s) => {
    from.fill(Math.floor(s / size), at, at + values.length);
    raw.set(values, at);
    at += values.length;
  });
  const order = Uint32Array.from({ length: total }, (_, i) => i).sort((x, y) => raw[x]! - raw[y]!);
  return {
    values: Float64Array.from(order, (i) => raw[i]!),
    block: Uint16Array.from(order, (i) => from[i]!),
    sizes,
  };
}

type ComparedInterval = Interval & { a: number; b: number };

function intervalsOf(
  a: Pooled,
  b: Pooled,
  wanted: readonly number[],
  random: () => number,
): ComparedInterval[] {
  const estimates = wanted.map(() => new Float64Array(ROUNDS));
  for (let round = 0; round < ROUNDS; round++) {
    const [drawnA, drawnB] = [drawnQuantiles(a, wanted, random), drawnQuantiles(b, wanted, random)];
    wanted.forEach((_, i) => {
      estimates[i]![round] = drawnB[i]! - drawnA[i]!;
    });
  }
  return wanted.map((q, i) => {
    const plain = ({ values }: Pooled) => values[Math.max(0, Math.ceil(q * values.length) - 1)]!;
    return { a: plain(a), b: plain(b), value: plain(b) - plain(a), ...middle95(estimates[i]!) };
  });
}

/** Nearest ranks, for ascending `wanted`, of blocks drawn with replacement, without copying their values. */
function drawnQuantiles(
  { values, block, sizes }: Pooled,
  wanted: readonly number[],
  random: () => number,
): number[] {
  const times = new Uint16Array(sizes.length);
  let total = 0;
  for (let i = 0; i < sizes.length; i++) {
    const drawn = Math.floor(random() * sizes.length);
    times[drawn]!++;
    total += sizes[drawn]!;
  }
  const out: number[] = [];
  let passed = 0;
  for (let i = 0; i < values.length && out.length < wanted.length; i++) {
    passed += times[block[i]!]!;
    while (out.length < wanted.length && passed >= Math.ceil(wanted[out.length]! * total))
      out.push(values[i]!);
  }
  while (out.length < wanted.length) out.push(values.at(-1)!);
  return out;
}

function verdictOf(what: string, { low, high, value }: Interval, clockNs: number): Difference['verdict'] {
  if (!(low > 0 || high < 0)) return 'open';
  // A wrong offset shifts every quantile equally but does not affect the variation.
  return CROSSES_CLOCKS.includes(what) && Math.abs(value) <= clockNs ? 'clock' : 'real';
}

/** As counted in the feel of each run; null if no second of one of them was judged. */
function badSeconds(a: RunSample, b: RunSample, random: () => number): [Difference] | null {
  const blocksOf = ({ feel: { flags } }: RunSample) => {
    const out: number[] = [];
    for (let i = 0; i + GROUP_S <= flags.length; i += GROUP_S)
      out.push(flags.slice(i, i + GROUP_S).reduce((sum, bad) => sum + bad, 0) / GROUP_S);
    return out;
  };
  const shareOf = ({ feel }: RunSample) => feel.badWindows / feel.windows;
  const [x, y] = [blocksOf(a), blocksOf(b)];
  if (Math.min(a.feel.windows, b.feel.windows) === 0) return null;
  if (Math.min(x.length, y.length) < MIN_BLOCKS) return [counted('badSeconds', shareOf(a), shareOf(b))];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const drawn = (values: readonly number[]) =>
    mean(values.map(() => values[Math.floor(random() * values.length)]!));
  const interval = {
    value: shareOf(b) - shareOf(a),
    ...middle95(Float64Array.from({ length: ROUNDS }, () => drawn(y) - drawn(x))),
  };
  const verdict = interval.low > 0 || interval.high < 0 ? 'real' : 'open';
  return [{ what: 'badSeconds', quantile: null, a: shareOf(a), b: shareOf(b), ...interval, verdict }];
}

function middle95(estimates: Float64Array): { low: number; high: number } {
  estimates.sort();
  return { low: estimates[Math.floor(0.025 * ROUNDS)]!, high: estimates[Math.ceil(0.975 * ROUNDS) - 1]! };
}
