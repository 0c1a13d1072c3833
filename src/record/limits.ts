import { z } from 'zod';
import type { EpisodeQuality } from '../messages/recording.ts';

const most = (about: string) => z.number().min(0).optional().describe(about);

/** What an episode must keep to be saved among the good ones; what is not given does not matter. */
export const limitsSchema = z.strictObject({
  minRows: z.int().min(1).optional().describe('rows an episode must have'),
  maxSkippedShare: most('rows skipped for want of a frame, of all'),
  maxStaleShare: most('rows with a stale frame, of all'),
  maxJerkP95RadS3: most('95th percentile of the measured jerk'),
  maxFrameAgeP95Ms: most('95th percentile of the oldest frame of a row'),
  maxOneWayP95Ms: most('95th percentile of the one-way time'),
  maxBadWindows: most('seconds in which the robot followed unsteadily'),
});

export type QualityLimits = z.infer<typeof limitsSchema>;

/** Limits that were not kept, in words. A figure that is not known keeps no limit. */
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
    found.push(`${name} ${value === null ? 'not known' : Number(value.toFixed(3))}, more than ${limit}`);
  };
  check('share of skipped rows', quality.skippedShare, limits.maxSkippedShare);
  check('share of stale rows', quality.staleShare, limits.maxStaleShare);
  check('jerk p95 in rad/s³', quality.jerkP95RadS3, limits.maxJerkP95RadS3);
  check('frame age p95 in ms', quality.frameAgeP95Ms, limits.maxFrameAgeP95Ms);
  check('one-way p95 in ms', quality.oneWayP95Ms, limits.maxOneWayP95Ms);
  check('bad windows', quality.badWindows, limits.maxBadWindows);
  return found;
}
