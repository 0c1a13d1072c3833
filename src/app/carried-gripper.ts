import type { Clock } from '../core/time/clock.ts';
import type { Driver } from '../robot/driver.ts';
import { GripperDriver } from '../robot/gripper-driver.ts';
import { NO_GRIPPER, type RobotConfig } from '../robot/robot-config.ts';
import { loadPlugin, pluginConfig } from './registry.ts';

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

/** Opens the gripper, if there is one, and joins it to the arm. If it cannot be opened, the arm is released. */
export async function withGripper(
  arm: Driver,
  carried: CarriedGripper | null,
  clock: Clock,
): Promise<Driver> {
  if (carried === null) return arm;
  const { name, options, armHost } = carried;
  try {
    const plugin = await loadPlugin('gripper', name);
    const config = pluginConfig('gripper', name, plugin, options);
    return new GripperDriver(arm, await plugin.open(config, { host: armHost }, clock));
  } catch (error) {
    arm.dispose();
    throw error;
  }
}
