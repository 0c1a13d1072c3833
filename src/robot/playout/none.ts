import type { PlayoutPolicy } from './playout-policy.ts';

/** Applies on arrival: the robot's motion inherits the link's jitter. */
export function nonePolicy(): PlayoutPolicy {
  return { name: 'none', schedule: (_sampledRobotNs, receivedNs) => receivedNs };
}
