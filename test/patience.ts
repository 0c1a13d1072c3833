/**
 * Settings of a robot on a machine that may stall a process for a while: the longest timeouts a rig allows.
 * For tests of the data path, not of the watchdogs; those are tested in simulated time.
 */
export const PATIENCE: readonly string[] = ['robot.commandTimeoutMs=500', 'robot.feedbackTimeoutMs=1000'];

/** For a command line that starts a robot without such settings. */
export const patienceOf = (args: readonly string[]): readonly string[] =>
  PATIENCE.filter((setting) => !args.some((arg) => arg.startsWith(setting.split('=')[0]!)));
