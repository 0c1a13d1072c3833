import {
  BAD_TICKS,
  STEP_DOWN_MS,
  STEP_UP_MS,
  THRESHOLD_MS,
  WINDOW_TICKS,
} from '../../../core/statistics/smoothness.ts';
import type { Applied } from './replay.ts';
import { effectiveLatencyMs, type Score, scoreOf } from './score.ts';
import { type DelayTrace, sentMs } from './trace.ts';
import { windowMinimum } from './windows.ts';

/** Longest delay considered. */
const LONGEST_MS = 800;
const HALVINGS = 12;
/** Half-width of the search for the base of a spike, in ticks. */
const BASE_HALF = 50;
/** Keeps a tick that just meets the threshold on the correct side of it. */
const GUARD_MS = 0.01;

/**
 * Smallest constant delay after the true send time with no more bad windows than a very long one. Uses
 * hindsight.
 */
export function constantOracle(trace: DelayTrace, redundancy = 0): Score | null {
  const arrivedUs = arrivals(trace, redundancy);
  const at = (delayMs: number) =>
    scoreOf(trace, applyAt(trace, arrivedUs, new Float64Array(trace.count).fill(delayMs)), redundancy > 0);
  const longest = at(LONGEST_MS);
  if (longest === null) return null;
  let best = longest;
  let low = 0;
  let high = LONGEST_MS;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    const score = at(middle)!;
    if (score.badWindows <= longest.badWindows) {
      best = score;
      high = middle;
    } else low = middle;
  }
  return best;
}

/**
 * A delay that moves only by time warp and knows the future: the smallest that covers every tick except those
 * a greedy choice skips. Feasible, so an upper bound on the optimum.
 */
export function smoothOracle(trace: DelayTrace, redundancy = 0): Score | null {
  const arrivedUs = arrivals(trace, redundancy);
  const rawMs = effectiveLatencyMs(trace, arrivedUs);
  const wantedMs = Float64Array.from(rawMs, (ms) => ms - THRESHOLD_MS + GUARD_MS);
  for (const tick of forgiven(trace, arrivedUs, rawMs)) wantedMs[tick] = 0;
  // Before a peak the delay may rise by STEP_UP_MS per tick, and after it fall by STEP_DOWN_MS.
  for (let i = wantedMs.length - 2; i >= 0; i--)
    wantedMs[i] = Math.max(wantedMs[i]!, wantedMs[i + 1]! - STEP_UP_MS);
  for (let i = 1; i < wantedMs.length; i++)
    wantedMs[i] = Math.max(wantedMs[i]!, wantedMs[i - 1]! - STEP_DOWN_MS);
  const delayMs = new Float64Array(trace.count).fill(wantedMs[wantedMs.length - 1] ?? 0);
  delayMs.set(wantedMs);
  return scoreOf(trace, applyAt(trace, arrivedUs, delayMs), redundancy > 0);
}

/** Ticks that may deviate: lost ones, then the highest spikes, as long as no window has too many. */
function forgiven(trace: DelayTrace, arrivedUs: Float64Array, rawMs: Float64Array): number[] {
  const baseMs = windowMinimum(rawMs, BASE_HALF);
  const chosen = new Uint8Array(rawMs.length);
  const spikes: number[] = [];
  for (let i = 0, next = 0; i < rawMs.length; i++) {
    for (next = Math.max(next, i); next < trace.count && Number.isNaN(arrivedUs[next]); ) next++;
    // A lost command is late by the distance to the next one plus its rise, for any delay.
    const distanceMs = next < trace.count ? sentMs(trace, next) - sentMs(trace, i) : 0;
    if (distanceMs + STEP_UP_MS > THRESHOLD_MS) chosen[i] = 1;
    else if (rawMs[i]! - baseMs[i]! > THRESHOLD_MS) spikes.push(i);
  }
  spikes.sort((a, b) => rawMs[b]! - baseMs[b]! - (rawMs[a]! - baseMs[a]!));
  for (const tick of spikes) if (hasRoom(chosen, tick)) chosen[tick] = 1;
  return Array.from(chosen.keys()).filter((i) => chosen[i] === 1);
}

/** True if every window that contains the tick stays within the tolerated number. */
function hasRoom(chosen: Uint8Array, tick: number): boolean {
  let count = 0;
  const from = Math.max(0, tick - WINDOW_TICKS + 1);
  const to = Math.min(chosen.length - 1, tick + WINDOW_TICKS - 1);
  for (let i = from; i <= to; i++) {
    count += chosen[i]!;
    if (i - WINDOW_TICKS >= from) count -= chosen[i - WINDOW_TICKS]!;
    if (count >= BAD_TICKS - 1) return false;
  }
  return true;
}

/** When each command first arrived, counting packets that repeat it; NaN: never. */
function arrivals({ count, sendUs, delayUs }: DelayTrace, redundancy: number): Float64Array {
  const arrivedUs = Float64Array.from(sendUs, (us, i) => us + delayUs[i]!);
  for (let i = 0; i < count; i++)
    for (let later = i + 1; later <= i + redundancy && later < count; later++) {
      const us = sendUs[later]! + delayUs[later]!;
      if (!Number.isNaN(us) && !(arrivedUs[i]! <= us)) arrivedUs[i] = us;
    }
  return arrivedUs;
}

/** Applies every command at its true send time plus the delay, or on arrival if later. */
function applyAt(trace: DelayTrace, arrivedUs: Float64Array, delayMs: Float64Array): Applied {
  const dueUs = (i: number) => (sentMs(trace, i) + delayMs[i]!) * 1000;
  return {
    applyUs: arrivedUs.map((us, i) => Math.max(us, dueUs(i))),
    delayUs: arrivedUs.map((us, i) => (Number.isNaN(us) ? Number.NaN : dueUs(i) - trace.sendUs[i]!)),
    late: 0,
    dropped: 0,
  };
}
