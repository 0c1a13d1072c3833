import type { TrialSettings } from './trial-rig.ts';

/** For arms in a process of their own: a shared machine stalls for longer than the 100 and 200 ms of a rig. */
export const CALM: TrialSettings = { both: ['robot.commandTimeoutMs=400', 'robot.feedbackTimeoutMs=1000'] };
