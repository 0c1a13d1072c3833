import { z } from 'zod';
import type { EpisodeQuality } from '../messages/recording.ts';

const most = (about: string) => z.number().min(0).optional().describe(about);

/** Quality limits an episode must satisfy; limits that are not set are not checked. */
export const limitsSchema = z.strictObject({
  minRows: z.int().min(1).optional().describe('minimum number of rows'),
  maxSkippedShare: most('share of rows skipped because of a missing frame'),
  maxStaleShare: most('share of rows with a stale frame'),
  maxJerkP95RadS3: most('95th percentile of the measured jerk'),
  maxFrameAgeP95Ms: most('95th percentile of the age of a row’s oldest frame'),
  maxOneWayP95Ms: most('95th percentile of the one-way latency'),
  maxBadWindows: most('number of seconds in which the robot followed unsteadily'),
});

export type QualityLimits = z.infer<typeof limitsSchema>;

/** The violated limits, in words. An unknown figure violates its limit. */
export function refusals(
  quality: Omit<EpisodeQuality, 'refusedBy'>,
  rows: number,
  limits: QualityLimits,
): string[] {
  const found: string[] = [];
  if (limits.minRows !== undefined && rows < limits.minRows)
    found.push(`${rows} rows, fewer than ${limits.minRows}`);
  const check = (name: string, value: number | null, limit: number | undefined) => {
    if (limit === undefined || (value !== null && value <= limit)) return;
    found.push(`${name} ${value === null ? 'unknown' : Number(value.toFixed(3))}, more than ${limit}`);
  };
  check('share of skipped rows', quality.skippedShare, limits.maxSkippedShare);
  check('share of stale rows', quality.staleShare, limits.maxStaleShare);
  check('jerk p95 in rad/s³', quality.jerkP95RadS3, limits.maxJerkP95RadS3);
  check('frame age p95 in ms', quality.frameAgeP95Ms, limits.maxFrameAgeP95Ms);
  check('one-way p95 in ms', quality.oneWayP95Ms, limits.maxOneWayP95Ms);
  check('bad windows', quality.badWindows, limits.maxBadWindows);
  return found;
}
