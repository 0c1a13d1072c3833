import { NO_GRIPPER, type RobotConfig } from './robot-config.ts';

/** The gripper of a rig's arm, as passed to the driver's thread. */
export interface CarriedGripper {
  name: string;
  options: Record<string, unknown>;
  /** Address of the arm's controller; empty if it has none. */
  armHost: string;
}

export function carriedGripper({ gripper, gripperOptions, options }: RobotConfig): CarriedGripper | null {
  if (gripper === NO_GRIPPER) return null;
  const { host } = options;
  return { name: gripper, options: gripperOptions, armHost: typeof host === 'string' ? host : '' };
}
