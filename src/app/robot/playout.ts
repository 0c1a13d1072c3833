import { PlayoutChoice } from '../../robot/playout/choice.ts';
import { createPolicy, type PlayoutPolicy } from '../../robot/playout/policy.ts';
import type { Rig } from '../rig.ts';

/** The playout a rig asks for; one that its operator may switch where the rig says so. */
export function rigPolicy({ robot }: Rig): PlayoutPolicy {
  const own = createPolicy(robot.playout);
  return robot.allowPlayoutChoice ? new PlayoutChoice(own) : own;
}
