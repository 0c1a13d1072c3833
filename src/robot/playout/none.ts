import type { PlayoutPolicy } from './playout-policy.ts';

/** Apply on arrival: the actuator inherits the jitter of the link. */
export function nonePolicy(): PlayoutPolicy {
  return { name: 'none', schedule: (_sampledRobotNs, receivedNs) => receivedNs };
}
