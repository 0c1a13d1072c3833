import { NS_PER_MS } from '../../core/time/clock.ts';
import type { PlayoutPolicy } from './playout-policy.ts';

/** A constant delay after the operator's tick; counted from arrival until the clocks are synchronized. */
export function fixedPolicy(delayMs: number): PlayoutPolicy {
  const delayNs = delayMs * NS_PER_MS;
  return {
    name: `fixed:${delayMs}`,
    delayNs,
    schedule(sampledRobotNs, receivedNs) {
      if (Number.isNaN(sampledRobotNs)) return receivedNs + delayNs;
      // A stamp later than its arrival is clock error; it must not lengthen the wait.
      return Math.min(sampledRobotNs, receivedNs) + delayNs;
    },
  };
}
