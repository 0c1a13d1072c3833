import type { Percentiles } from '../core/statistics/percentiles.ts';
import { NS_PER_MS } from '../core/time/clock.ts';

/** Rounded to the microsecond. */
export function roundMs(ns: number): number {
  return Math.round(ns / 1000) / (NS_PER_MS / 1000);
}

/** Rounded to the microsecond, always with three decimals. */
export function formatMs(ns: number): string {
  return roundMs(ns).toFixed(3);
}

export function percentilesMs(ns: Percentiles | null): Percentiles | null {
  return ns && { p50: roundMs(ns.p50), p95: roundMs(ns.p95), p99: roundMs(ns.p99), max: roundMs(ns.max) };
}
