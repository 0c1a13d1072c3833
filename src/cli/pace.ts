import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { monotonicClock } from '../core/time/clock.ts';

/** Node's timers wake up to a millisecond late, so the last stretch spins the event loop. */
const SPIN_NS = 2e6;
const LONGEST_SLEEP_NS = 100e6;

/** Returns at the deadline, or earlier once `ended` returns true. */
export async function waitUntil(deadlineNs: number, ended: () => boolean): Promise<void> {
  for (;;) {
    const leftNs = deadlineNs - monotonicClock.nowNs();
    if (leftNs <= 0 || ended()) return;
    if (leftNs > SPIN_NS) await sleep(Math.min(leftNs - SPIN_NS, LONGEST_SLEEP_NS) / 1e6);
    else await turn();
  }
}
