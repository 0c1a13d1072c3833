import type { PoseFilter } from './filter.ts';

export function createNoFilter(): PoseFilter {
  return { delayNs: Number.NaN, reset: () => {}, apply: () => {} };
}
