import type { RobotConfig } from '../robot-config.ts';
import { PlayoutChoice } from './choice.ts';
import type { PlayoutPolicy } from './playout-policy.ts';
import { createPolicy } from './policy.ts';

/** The playout policy of a rig, switchable by the operator if the rig allows it. */
export function rigPolicy({ robot }: { robot: RobotConfig }): PlayoutPolicy {
  const own = createPolicy(robot.playout);
  return robot.allowPlayoutChoice ? new PlayoutChoice(own) : own;
}
