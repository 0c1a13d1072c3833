import {
  countBad,
  runningTargetMs,
  slewLimited,
  THRESHOLD_MS,
  WINDOW_TICKS,
} from '../../../core/statistics/smoothness.ts';
import type { Applied } from './replay.ts';
import { type DelayTrace, sentMs } from './trace.ts';
import { windowMinimum } from './windows.ts';

/** How a replay felt. docs/playout.md defines every figure. */
export interface Score {
  meanMs: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  variationP99Ms: number;
  badWindows: number;
  bad3Windows: number;
  strictWindows: number;
  longestLateRun: number;
  windows: number;
  longestGapMs: number;
  impossible: number;
}

const WARM_TICKS = 1000;
const FINE_MS = 3;
const FLOOR_HALF = 25;

/**
 * Scores a replay of a 100 Hz trace. With `isRedundant`, a command may be applied before its own packet
 * arrives. Null if too few commands were applied.
 */
export function scoreOf(trace: DelayTrace, applied: Applied, isRedundant = false): Score | null {
  const latencyMs = effectiveLatencyMs(trace, applied.applyUs);
  const n = latencyMs.length;
  if (n < WARM_TICKS + WINDOW_TICKS) return null;
  const [running, declared] = steadyTargetsMs(trace, applied, latencyMs);
  let best = smoothness(latencyMs, running);
  if (declared !== undefined) {
    const other = smoothness(latencyMs, declared);
    const { badWindows: bad, strictWindows: strict } = best;
    if (other.badWindows < bad || (other.badWindows === bad && other.strictWindows <= strict)) best = other;
  }
  const tail = latencyMs.subarray(WARM_TICKS);
  const sorted = Float64Array.from(tail).sort();
  const variation = Float64Array.from(tail.subarray(1), (value, i) => Math.abs(value - tail[i]!)).sort();
  return {
    meanMs: hundredths(tail.reduce((sum, value) => sum + value, 0) / tail.length),
    p50Ms: hundredths(percentile(sorted, 50)),
    p95Ms: hundredths(percentile(sorted, 95)),
    p99Ms: hundredths(percentile(sorted, 99)),
    variationP99Ms: hundredths(percentile(variation, 99)),
    ...best,
    windows: Math.floor((n - WARM_TICKS) / WINDOW_TICKS),
    longestGapMs: hundredths(longestGapMs(applied.applyUs)),
    impossible: impossible(trace, applied.applyUs, isRedundant),
  };
}

/**
 * The steady delays a run is judged by, the better result counting: the delay reached and the one declared.
 */
export function steadyTargetsMs(
  trace: DelayTrace,
  applied: Applied,
  latencyMs: Float64Array,
): [Float64Array, ...Float64Array[]] {
  const declared = declaredMs(trace, applied, latencyMs);
  const running = runningTargetMs(latencyMs, WARM_TICKS);
  return declared === null ? [running] : [running, slewLimited(declared, WARM_TICKS)];
}

/** Time of the first action on a command at least as new as i, minus the true send time of i. */
export function effectiveLatencyMs(trace: DelayTrace, applyUs: Float64Array): Float64Array {
  const { count } = trace;
  const latencyMs = new Float64Array(count).fill(Number.NaN);
  let nextMs = Number.NaN;
  for (let i = count - 1; i >= 0; i--) {
    const appliedMs = applyUs[i]! / 1000;
    if (!Number.isNaN(appliedMs)) nextMs = Number.isNaN(nextMs) ? appliedMs : Math.min(nextMs, appliedMs);
    latencyMs[i] = nextMs - sentMs(trace, i);
  }
  let n = count;
  while (n > 0 && Number.isNaN(latencyMs[n - 1])) n--;
  return latencyMs.subarray(0, Math.max(0, n - 5));
}

/** The policy's schedule in true time, never below the delay reached; null if it declares none. */
function declaredMs(trace: DelayTrace, { delayUs }: Applied, latencyMs: Float64Array): Float64Array | null {
  const leastMs = windowMinimum(latencyMs, FLOOR_HALF);
  const out = new Float64Array(latencyMs.length);
  let delayMs = Number.NEGATIVE_INFINITY;
  let declares = false;
  for (let i = 0; i < out.length; i++) {
    if (!Number.isNaN(delayUs[i])) {
      delayMs = trace.sendUs[i]! / 1000 + delayUs[i]! / 1000 - sentMs(trace, i);
      declares = true;
    }
    out[i] = Math.max(delayMs, leastMs[i]!);
  }
  return declares ? out : null;
}

type Smoothness = Pick<Score, 'badWindows' | 'bad3Windows' | 'strictWindows' | 'longestLateRun'>;

function smoothness(latencyMs: Float64Array, target: Float64Array): Smoothness {
  const n = latencyMs.length;
  const deviates = new Uint8Array(n);
  const fine = new Uint8Array(n);
  let run = 0;
  let longestLateRun = 0;
  for (let i = WARM_TICKS; i < n; i++) {
    const errorMs = latencyMs[i]! - target[i]!;
    deviates[i] = Math.abs(errorMs) > THRESHOLD_MS ? 1 : 0;
    fine[i] = Math.abs(errorMs) > FINE_MS ? 1 : 0;
    run = errorMs > THRESHOLD_MS ? run + 1 : 0;
    longestLateRun = Math.max(longestLateRun, run);
  }
  return {
    badWindows: countBad(deviates, WARM_TICKS),
    bad3Windows: countBad(fine, WARM_TICKS),
    strictWindows: countStrict(deviates),
    longestLateRun,
  };
}

function countStrict(deviates: Uint8Array): number {
  let strict = 0;
  for (let s = WARM_TICKS; s + WINDOW_TICKS <= deviates.length; s += WINDOW_TICKS) {
    let i = s + 1;
    while (i < s + WINDOW_TICKS && !(deviates[i] === 1 && deviates[i - 1] === 1)) i++;
    if (i < s + WINDOW_TICKS) strict++;
  }
  return strict;
}

function longestGapMs(applyUs: Float64Array): number {
  const appliedMs = applyUs.filter((us) => !Number.isNaN(us)).map((us) => us / 1000);
  appliedMs.sort();
  let longest = 0;
  for (let i = 1; i < appliedMs.length; i++) longest = Math.max(longest, appliedMs[i]! - appliedMs[i - 1]!);
  return longest;
}

/** Commands applied out of order, or before they had arrived. */
function impossible(
  { count, sendUs, delayUs }: DelayTrace,
  applyUs: Float64Array,
  isRedundant: boolean,
): number {
  let found = 0;
  let previousMs = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const appliedMs = applyUs[i]! / 1000;
    if (Number.isNaN(appliedMs)) continue;
    if (appliedMs < previousMs - 0.001) found++;
    previousMs = Math.max(previousMs, appliedMs);
    const arrivedMs = (sendUs[i]! + delayUs[i]!) / 1000;
    if (!isRedundant && !(appliedMs >= arrivedMs - 0.001)) found++;
  }
  return found;
}

function percentile(sorted: Float64Array, p: number): number {
  const rank = ((sorted.length - 1) * p) / 100;
  const i = Math.floor(rank);
  const low = sorted[i]!;
  return i + 1 < sorted.length ? low + (sorted[i + 1]! - low) * (rank - i) : low;
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;
