import type { EpisodeInfo } from '../messages/recording.ts';

/** Per episode, what is compared between episodes. */
export interface ScoredEpisode {
  jerkP95RadS3: number | null;
  peakVelocityRadS: number | null;
  stillShare: number | null;
  offsetRad: number | null;
  oneWayP95Ms: number | null;
  badWindows: number | null;
  staleShare: number | null;
  durationS: number;
  /** Measured joints in the last row. */
  endRad: readonly number[];
}

const NAMES = {
  jerkP95RadS3: 'jerk',
  peakVelocityRadS: 'peak velocity',
  stillShare: 'standing still',
  offsetRad: 'leader–follower offset',
  oneWayP95Ms: 'latency',
  badWindows: 'bad seconds',
  staleShare: 'stale frames',
  durationS: 'length',
} as const;
/** Fewer episodes have no usual range. */
const ENOUGH = 8;
/** Distance from the quartiles, in quartile distances: Tukey's outer fence. */
const FENCE = 3;

export interface Outliers {
  /** Distance of each episode's end pose from the median one; null where it has none. */
  endDistanceRad: (number | null)[];
  /** What is unusual about each episode, in words; empty: nothing. */
  marks: string[][];
}

/** Compares episodes with each other. */
export function findOutliers(episodes: readonly ScoredEpisode[]): Outliers {
  const marks = episodes.map((): string[] => []);
  const endDistanceRad = endDistances(episodes);
  const mark = (name: string, values: readonly (number | null)[]): void => {
    const fence = fenceOf(values);
    values.forEach((value, i) => {
      if (fence !== null && value !== null && (value > fence.high || value < fence.low)) marks[i]!.push(name);
    });
  };
  for (const [key, name] of Object.entries(NAMES))
    mark(
      name,
      episodes.map((episode) => episode[key as keyof typeof NAMES]),
    );
  mark('end pose', endDistanceRad);
  return { endDistanceRad, marks };
}

function fenceOf(values: readonly (number | null)[]): { low: number; high: number } | null {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length < ENOUGH) return null;
  known.sort((a, b) => a - b);
  const [q1, q3] = [quantile(known, 0.25), quantile(known, 0.75)];
  // Equal quartiles leave no room for rounding.
  const room = Math.max(FENCE * (q3 - q1), 1e-3 * Math.abs(q3), 1e-6);
  return { low: q1 - room, high: q3 + room };
}

function quantile(sorted: readonly number[], part: number): number {
  const at = part * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (at % 1) * ((sorted[Math.floor(at) + 1] ?? low) - low);
}

function endDistances(episodes: readonly ScoredEpisode[]): (number | null)[] {
  const width = Math.max(0, ...episodes.map(({ endRad }) => endRad.length));
  const ends = episodes.filter(({ endRad }) => endRad.length === width);
  const median = Array.from({ length: width }, (_, i) =>
    quantile(
      ends.map(({ endRad }) => endRad[i]!).sort((a, b) => a - b),
      0.5,
    ),
  );
  return episodes.map(({ endRad }) =>
    width === 0 || endRad.length !== width
      ? null
      : Math.hypot(...endRad.map((value, i) => value - median[i]!)),
  );
}

/** What is unusual about recordings that are compared with each other, by id. */
export function marksOf(episodes: readonly EpisodeInfo[]): Record<string, string[]> {
  const scored = episodes.flatMap(({ id, durationS, quality }) =>
    quality?.figures === undefined ? [] : [{ id, durationS, ...quality, ...quality.figures }],
  );
  const { marks } = findOutliers(scored);
  return Object.fromEntries(scored.flatMap(({ id }, i) => (marks[i]!.length > 0 ? [[id, marks[i]!]] : [])));
}
