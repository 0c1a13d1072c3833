import type { Clock } from '../../../core/time/clock.ts';
import { loadMujoco } from '../../../world/mujoco.ts';
import type { DriverPlugin } from '../../driver.ts';
import { config, type WorldConfig } from './config.ts';
import { WorldDriver } from './world-driver.ts';

const plugin: DriverPlugin<WorldConfig> = {
  about: 'an arm with a gripper in a world with physics, where there is something to do',
  config,
  open: async (options, model, clock: Clock) =>
    new WorldDriver(options, model, await loadMujoco(), clock.nowNs()),
};

export default plugin;
