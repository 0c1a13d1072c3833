import type { Values } from './columns.ts';
import type { Range } from './moments.ts';
import { valueAt } from './values.ts';

const QUANTILES = { q01: 0.01, q10: 0.1, q50: 0.5, q90: 0.9, q99: 0.99 } as const;
export const STAT_NAMES = ['min', 'max', 'mean', 'std', 'count', 'q01', 'q10', 'q50', 'q90', 'q99'] as const;
export type StatName = (typeof STAT_NAMES)[number];

/** One number per element of the feature, per channel for pictures; `count` has one. */
export type Stats = Record<StatName, number[]>;

/** Exact, over all rows; quantiles interpolate linearly. */
export function valueStats(values: Values): Stats {
  const width = Array.isArray(values[0]) ? values[0].length : 1;
  const stats = emptyStats(values.length);
  for (let i = 0; i < width; i++) {
    const sorted = Float64Array.from(values as ArrayLike<unknown>, (value) =>
      Number(Array.isArray(value) ? value[i] : value),
    ).sort();
    let sum = 0;
    for (const value of sorted) sum += value;
    const mean = sum / sorted.length;
    let squares = 0;
    for (const value of sorted) squares += (value - mean) ** 2;
    stats.min.push(sorted[0]!);
    stats.max.push(sorted[sorted.length - 1]!);
    stats.mean.push(mean);
    stats.std.push(Math.sqrt(squares / sorted.length));
    for (const [name, part] of Object.entries(QUANTILES))
      stats[name as StatName].push(interpolated(sorted, part));
  }
  return stats;
}

const emptyStats = (count: number): Stats =>
  Object.fromEntries(STAT_NAMES.map((name) => [name, name === 'count' ? [count] : []])) as unknown as Stats;

/** Other programs estimate quantiles with histograms: what is within a few ranks, or a hundredth of the span, is right. */
export function quantileRanges(values: readonly unknown[], width: number): Map<string, Range[]> {
  const ranges = new Map<string, Range[]>(Object.keys(QUANTILES).map((name) => [name, []]));
  const last = values.length - 1;
  const ranks = 1 + Math.floor(0.01 * values.length);
  for (let i = 0; i < width; i++) {
    const sorted = Float64Array.from(values, (value) => valueAt(value, i)).sort();
    const margin = 0.01 * (sorted[last]! - sorted[0]!) + 1e-5 * Math.abs(sorted[last]!) + 1e-6;
    for (const [name, part] of Object.entries(QUANTILES)) {
      const low = sorted[Math.max(0, Math.floor(part * last) - ranks)]! - margin;
      const high = sorted[Math.min(last, Math.ceil(part * last) + ranks)]! + margin;
      ranges.get(name)!.push({ low, high });
    }
  }
  return ranges;
}

/** A quantile by linear interpolation. */
export function interpolated(sorted: Float64Array, part: number): number {
  const at = part * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  return low + (at - below) * ((sorted[below + 1] ?? low) - low);
}

/** Collects 8-bit RGB pixels; its statistics are scaled to 0…1. */
export class PictureStats {
  readonly #bins = [new Float64Array(256), new Float64Array(256), new Float64Array(256)];
  #pictures = 0;

  get pictures(): number {
    return this.#pictures;
  }

  add(rgb: Uint8Array): void {
    const [red, green, blue] = this.#bins as [Float64Array, Float64Array, Float64Array];
    for (let i = 0; i + 2 < rgb.length; i += 3) {
      red[rgb[i]!]!++;
      green[rgb[i + 1]!]!++;
      blue[rgb[i + 2]!]!++;
    }
    this.#pictures++;
  }

  finish(): Stats {
    const stats = emptyStats(this.#pictures);
    for (const bins of this.#bins) {
      const { pixels, mean, std } = moments(bins);
      const level = (part: number) => levelAt(bins, part * (pixels - 1)) / 255;
      stats.min.push(level(0));
      stats.max.push(level(1));
      stats.mean.push(mean / 255);
      stats.std.push(std / 255);
      for (const [name, part] of Object.entries(QUANTILES)) stats[name as StatName].push(level(part));
    }
    return stats;
  }
}

function moments(bins: Float64Array): { pixels: number; mean: number; std: number } {
  let [pixels, sum, squares] = [0, 0, 0];
  bins.forEach((count, value) => {
    pixels += count;
    sum += count * value;
  });
  const mean = sum / pixels;
  bins.forEach((count, value) => {
    squares += count * (value - mean) ** 2;
  });
  return { pixels, mean, std: Math.sqrt(squares / pixels) };
}

function levelAt(bins: Float64Array, rank: number): number {
  let seen = 0;
  for (let value = 0; value < bins.length; value++) {
    seen += bins[value]!;
    if (seen > rank) return value;
  }
  return bins.length - 1;
}

/** Combines episodes as LeRobot does: pooled mean and deviation; quantiles are means weighted by count. */
export function joinStats(parts: readonly Stats[]): Stats {
  const total = parts.reduce((sum, { count }) => sum + count[0]!, 0);
  const joined = emptyStats(total);
  const width = parts[0]?.mean.length ?? 0;
  for (let i = 0; i < width; i++) {
    const weighted = (of: (part: Stats) => number) =>
      parts.reduce((sum, part) => sum + of(part) * part.count[0]!, 0) / total;
    const mean = weighted((part) => part.mean[i]!);
    joined.min.push(Math.min(...parts.map((part) => part.min[i]!)));
    joined.max.push(Math.max(...parts.map((part) => part.max[i]!)));
    joined.mean.push(mean);
    joined.std.push(Math.sqrt(weighted((part) => part.std[i]! ** 2 + (part.mean[i]! - mean) ** 2)));
    for (const name of Object.keys(QUANTILES) as StatName[])
      joined[name].push(weighted((part) => part[name][i]!));
  }
  return joined;
}

/** Picture statistics have the shape (3, 1, 1). */
export const pictureShape = (values: readonly number[]): number[][][] => values.map((value) => [[value]]);
