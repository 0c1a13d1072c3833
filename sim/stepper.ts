import { monotonicClock } from '../src/core/time/clock.ts';

/** More due steps than this mean that this process paused, not the device. */
const STALL_STEPS = 3;
const MAX_BEHIND_S = 0.5;

/**
 * Runs a device's period: a millisecond timer that runs all due steps. After a longer pause of this process
 * the excess steps are marked as catch-up, so that the device does not take the pause for silence of its
 * peer.
 */
export function runSteps(stepS: number, step: (made: number, stalled: boolean) => void): () => void {
  const startNs = monotonicClock.nowNs();
  let skippedNs = 0;
  let made = 0;
  const timer = setInterval(() => {
    let due = Math.floor((monotonicClock.nowNs() - startNs - skippedNs) / (stepS * 1e9)) - made;
    if (due * stepS > MAX_BEHIND_S) {
      skippedNs += (due - STALL_STEPS) * stepS * 1e9;
      due = STALL_STEPS;
    }
    for (let i = 0; i < due; i++) step(++made, i >= STALL_STEPS);
  }, 1);
  return () => clearInterval(timer);
}
