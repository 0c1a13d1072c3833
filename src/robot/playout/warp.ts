import { MAX_WARP_DOWN, MAX_WARP_UP } from '../../core/statistics/smoothness.ts';
import { NS_PER_MS } from '../../core/time/clock.ts';

/** Limits the warp after a silence: no single command moves the delay by more than 10 ms. */
const MAX_ELAPSED_NS = 100 * NS_PER_MS;

/** Time that counts for the warp between two stamps; never negative. */
export const warpElapsedNs = (elapsedNs: number): number =>
  elapsedNs > 0 ? Math.min(elapsedNs, MAX_ELAPSED_NS) : 0;

/** The delay after moving towards `targetNs` for `elapsedNs` (from `warpElapsedNs`). */
export function warpTowards(
  delayNs: number,
  targetNs: number,
  elapsedNs: number,
  up = MAX_WARP_UP,
  down = MAX_WARP_DOWN,
): number {
  if (targetNs > delayNs) return Math.min(targetNs, delayNs + up * elapsedNs);
  return Math.max(targetNs, delayNs - down * elapsedNs);
}
