import { jointTargets } from '../joint-targets.ts';

export default jointTargets('joint angles from a recording or a policy on this machine', 4770, false);
