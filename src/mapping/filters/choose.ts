import { z } from 'zod';
import { createEma } from './ema.ts';
import type { PoseFilter } from './filter.ts';
import { MovingAverage } from './moving-average.ts';
import { createNoFilter } from './none.ts';
import { OneEuro } from './one-euro.ts';
import { Steady } from './steady.ts';

const MAX_COUNT = 100;
const MAX_CUTOFF_HZ = 1000;
const MAX_BETA = 1000;

/** `steady`, `none`, `moving-average:<n>`, `ema:<alpha>` or `one-euro:<minCutoffHz>,<beta>`. */
export const filterSetting = z
  .string()
  .refine((text) => chooseFilter(text) !== null, {
    error: `must be steady, none, moving-average:<1…${MAX_COUNT}>, ema:<above 0, up to 1> or one-euro:<minCutoffHz>,<beta>`,
  })
  .default('steady')
  .describe('smooths the hand; steady: strong at rest, little delay in motion; see docs/mapping.md');

/** Null if the text does not name a filter. */
export function chooseFilter(text: string): PoseFilter | null {
  if (text === 'steady') return new Steady();
  if (text === 'none') return createNoFilter();
  const [, name = '', rest = ''] = /^([a-z-]+):([\d.,e+-]+)$/.exec(text) ?? [];
  const [first = Number.NaN, second, ...more] = rest
    .split(',')
    .map((part) => (part === '' ? Number.NaN : Number(part)));
  if (more.length > 0 || (name === 'one-euro') !== (second !== undefined)) return null;
  if (name === 'moving-average')
    return Number.isInteger(first) && first >= 1 && first <= MAX_COUNT ? new MovingAverage(first) : null;
  if (name === 'ema') return first > 0 && first <= 1 ? createEma(first) : null;
  if (name !== 'one-euro' || second === undefined) return null;
  const fits = first > 0 && first <= MAX_CUTOFF_HZ && second >= 0 && second <= MAX_BETA;
  return fits ? new OneEuro(first, second) : null;
}
