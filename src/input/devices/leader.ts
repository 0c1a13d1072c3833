import { jointTargets } from '../joint-targets.ts';

/** Beside `joints`, so that the person at the leader arm can take over from a policy that drives through that. */
export default jointTargets('a leader arm on this machine, joint by joint', 4774, true);
