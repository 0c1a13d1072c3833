import type { RobotConfig } from '../robot-config.ts';
import { PlayoutChoice } from './choice.ts';
import type { PlayoutPolicy } from './playout-policy.ts';
import { createPolicy } from './policy.ts';

/** The playout a rig asks for; one that its operator may switch where the rig says so. */
export function rigPolicy({ robot }: { robot: RobotConfig }): PlayoutPolicy {
  const own = createPolicy(robot.playout);
  return robot.allowPlayoutChoice ? new PlayoutChoice(own) : own;
}
