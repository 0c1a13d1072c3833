import type { RobotConfig } from '../robot-config.ts';
import { PlayoutChoice } from './choice.ts';
import type { PlayoutPolicy, Redundancy } from './playout-policy.ts';
import { createPolicy } from './policy.ts';

interface RigOfPolicy {
  robot: RobotConfig;
  link: { redundancy: Redundancy };
}

/** The playout policy of a rig, switchable by the operator if the rig allows it. */
export function rigPolicy({ robot, link }: RigOfPolicy): PlayoutPolicy {
  const own = createPolicy(robot.playout, { redundancy: link.redundancy });
  return robot.allowPlayoutChoice ? new PlayoutChoice(own) : own;
}
