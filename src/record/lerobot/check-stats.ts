import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { EpisodeMeta } from './episode-meta.ts';
import { type DatasetInfo, STATS_FILE } from './layout.ts';
import { Moments } from './moments.ts';
import type { Problems } from './problems.ts';
import { STAT_NAMES } from './stats.ts';
import { isList } from './values.ts';

/** What was found in the data: per episode, per feature. */
export type FoundStats = ReadonlyMap<number, ReadonlyMap<string, Moments>>;

type Stored = Record<string, Record<string, unknown>>;
interface Place {
  file: string;
  row: number | null;
}

/** Of a colour from 0 to 1: half a step of 8 bits, and rounding to 32 bits. */
const PICTURE_SLACK = 0.005;

/** Writers that renumber episodes keep the statistics of these as they were; no policy uses them. */
const RENUMBERED = ['index', 'episode_index', 'task_index'];

export function checkStats(
  dir: string,
  info: DatasetInfo,
  episodes: readonly EpisodeMeta[],
  found: FoundStats,
  problems: Problems,
): void {
  const stored = readStats(dir, problems);
  if (stored !== null) {
    checkShapes(info, stored, { file: STATS_FILE, row: null }, problems, true);
    checkFound(stored, joined(found), { file: STATS_FILE, row: null }, problems);
    checkPictureTotals(info, stored, episodes, problems);
    checkQuantileTotals(stored, episodes, problems);
  }
  for (const { episode, file, row, stats } of episodes) {
    checkShapes(info, stats, { file, row }, problems, false);
    const own = found.get(episode);
    if (own !== undefined) checkFound(stats, own, { file, row }, problems);
  }
}

/**
 * Pictures are not all decoded, so their totals are compared with the statistics of the episodes. However episodes are
 * weighted, a mean lies between theirs, and a deviation is at least the smallest of theirs and at most the largest plus
 * what the means differ.
 */
function checkPictureTotals(
  { features }: DatasetInfo,
  stored: Stored,
  episodes: readonly EpisodeMeta[],
  problems: Problems,
): void {
  for (const [key, { dtype }] of Object.entries(features)) {
    if (dtype !== 'video' && dtype !== 'image') continue;
    const [total, parts] = [stored[key], episodes.map(({ stats }) => stats[key])];
    if (total === undefined || parts.length === 0 || parts.some((part) => part === undefined)) continue;
    const of = (name: string, i: number) => parts.map((part) => numbersOf(part![name])[i] ?? Number.NaN);
    const within = (name: string, i: number, low: number, high: number): void => {
      const claimed = numbersOf(total[name])[i] ?? Number.NaN;
      if (!(claimed < low - PICTURE_SLACK || claimed > high + PICTURE_SLACK)) return;
      const range = `${low.toFixed(4)} … ${high.toFixed(4)}`;
      problems.add(
        'stats',
        STATS_FILE,
        null,
        `${key}.${name}[${i}] is ${claimed}, but the episodes give ${range}`,
      );
    };
    for (let i = 0; i < 3; i++) {
      const [means, deviations] = [of('mean', i), of('std', i)];
      const spread = Math.max(...means) - Math.min(...means);
      within('mean', i, Math.min(...means), Math.max(...means));
      within('std', i, Math.min(...deviations), Math.hypot(Math.max(...deviations), spread));
      for (const name of ['min', 'max'] as const)
        within(name, i, Math[name](...of(name, i)), Math[name](...of(name, i)));
    }
  }
}

/** Those of all episodes are means of theirs, or exact: either lies between the least and the largest. */
function checkQuantileTotals(stored: Stored, episodes: readonly EpisodeMeta[], problems: Problems): void {
  for (const [key, own] of Object.entries(stored))
    for (const name of RENUMBERED.includes(key) ? [] : QUANTILE_NAMES) {
      const parts = episodes.map(({ stats }) => stats[key]?.[name]);
      if (own[name] === undefined || parts.length === 0 || parts.some((part) => part === undefined)) continue;
      const values = parts.map(numbersOf);
      const [least, most] = [numbersOf(own['min']), numbersOf(own['max'])];
      numbersOf(own[name]).forEach((claimed, i) => {
        const each = values.map((part) => part[i] ?? Number.NaN);
        const [low, high] = [Math.min(...each), Math.max(...each)];
        const margin = 10 * slack(least[i] ?? 0, most[i] ?? 0);
        if (!(claimed < low - margin || claimed > high + margin)) return;
        const message = `${key}.${name}[${i}] is ${claimed}, but the episodes have ${low} to ${high}`;
        problems.add('stats', STATS_FILE, null, message);
      });
    }
}

function readStats(dir: string, problems: Problems): Stored | null {
  const file = path.join(dir, STATS_FILE);
  if (!existsSync(file)) {
    problems.add('stats', STATS_FILE, null, 'missing: policies cannot normalise their inputs');
    return null;
  }
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stored;
  } catch (error) {
    problems.add('file-unreadable', STATS_FILE, null, (error as Error).message);
    return null;
  }
}

function joined(found: FoundStats): Map<string, Moments> {
  const all = new Map<string, Moments>();
  for (const own of found.values())
    for (const [key, moments] of own) {
      const sum = all.get(key) ?? new Moments(moments.mean.length);
      sum.merge(moments);
      all.set(key, sum);
    }
  return all;
}

/** Statistics of single episodes are optional: `isRequired` is false for them. */
function checkShapes(
  { features }: DatasetInfo,
  stored: Stored,
  { file, row }: Place,
  problems: Problems,
  isRequired: boolean,
): void {
  for (const [key, { dtype, shape }] of Object.entries(features)) {
    if (dtype === 'string') continue;
    const own = stored[key];
    if (own === undefined) {
      if (isRequired) problems.add('stats', file, row, `${key} has no statistics`);
      continue;
    }
    const isPicture = dtype === 'video' || dtype === 'image';
    const count = isPicture ? 3 : shape.reduce((product, n) => product * n, 1);
    const problem = (message: string) => problems.add('stats', file, row, `${key}.${message}`);
    for (const name of STAT_NAMES) checkShape(problem, name, own[name], count, isPicture);
    checkOrder(problem, own);
  }
}

/** Quantiles were added later: a dataset without them is valid. */
const QUANTILE = /^q\d\d$/;
const QUANTILE_NAMES = STAT_NAMES.filter((name) => QUANTILE.test(name));

function checkShape(
  problem: (message: string) => void,
  name: string,
  value: unknown,
  count: number,
  isPicture: boolean,
): void {
  if (value === undefined || value === null) {
    if (!QUANTILE.test(name)) problem(`${name} is missing`);
    return;
  }
  if (!isList(value)) return problem(`${name} is a single value, not a list`);
  const flat = numbersOf(value);
  const due = name === 'count' ? 1 : count;
  const isGrey = isPicture && flat.length === 1;
  if (flat.length !== due && !isGrey) problem(`${name} has ${flat.length} values, not ${due}`);
  else if (!flat.every(Number.isFinite)) problem(`${name} is not finite`);
  else if (isPicture && name !== 'count' && depthOf(value) !== 3)
    problem(`${name} does not have the shape (3, 1, 1)`);
  else if (name === 'std' && flat.some((each) => each < 0)) problem('std is negative');
  else if (isPicture && name !== 'count' && flat.some((each) => each < -0.01 || each > 1.01))
    problem(`${name} is not between 0 and 1`);
}

const depthOf = (value: unknown): number => (Array.isArray(value) ? 1 + depthOf(value[0]) : 0);

const numbersOf = (value: unknown): number[] =>
  (Array.isArray(value) ? (value.flat(Number.POSITIVE_INFINITY) as unknown[]) : [value]).map((each) =>
    typeof each === 'number' || typeof each === 'bigint' ? Number(each) : Number.NaN,
  );

/** Rounding of 32-bit sums, and the bins of estimated quantiles. */
const slack = (min: number, max: number): number =>
  1e-3 * (max - min) + 1e-5 * Math.max(Math.abs(min), Math.abs(max)) + 1e-6;

function checkOrder(problem: (message: string) => void, own: Record<string, unknown>): void {
  const [min, max] = [numbersOf(own['min']), numbersOf(own['max'])];
  for (const name of ['mean', ...QUANTILE_NAMES]) {
    if (own[name] === undefined || own[name] === null) continue;
    const values = numbersOf(own[name]);
    const at = values.findIndex((value, i) => {
      const margin = 10 * slack(min[i]!, max[i]!);
      return value < min[i]! - margin || value > max[i]! + margin;
    });
    if (at >= 0) problem(`${name}[${at}] is ${values[at]}, outside min ${min[at]} … max ${max[at]}`);
  }
  const quantiles = QUANTILE_NAMES.filter((name) => Array.isArray(own[name]));
  for (const [i, name] of quantiles.slice(1).entries()) {
    const [below, above] = [numbersOf(own[quantiles[i]!]), numbersOf(own[name])];
    const at = above.findIndex((value, k) => value < below[k]! - 10 * slack(min[k]!, max[k]!));
    if (at >= 0) problem(`${name}[${at}] is ${above[at]}, below ${quantiles[i]} of ${below[at]}`);
  }
}

function checkFound(
  stored: Stored,
  found: ReadonlyMap<string, Moments>,
  { file, row }: Place,
  problems: Problems,
): void {
  for (const [key, moments] of found) {
    const own = stored[key];
    if (own === undefined || RENUMBERED.includes(key)) continue;
    const compare = (name: string, i: number, value: number, allowed: number): void => {
      const claimed = numbersOf(own[name])[i];
      if (claimed === undefined || !Number.isFinite(claimed) || Math.abs(claimed - value) <= allowed) return;
      problems.add('stats', file, row, `${key}.${name}[${i}] is ${claimed}, but the data has ${value}`);
    };
    compare('count', 0, moments.count, 0);
    for (let i = 0; i < moments.mean.length; i++) {
      const [min, max] = [moments.min[i]!, moments.max[i]!];
      const allowed = slack(min, max);
      compare('min', i, min, allowed);
      compare('max', i, max, allowed);
      compare('mean', i, moments.mean[i]!, allowed);
      // A deviation from 32-bit squares loses half the digits.
      compare('std', i, moments.std(i), allowed + 3e-4 * Math.max(Math.abs(min), Math.abs(max)));
      for (const name of QUANTILE_NAMES) {
        const range = moments.ranges.get(name)?.[i];
        if (range !== undefined) compare(name, i, (range.low + range.high) / 2, (range.high - range.low) / 2);
      }
    }
  }
}
