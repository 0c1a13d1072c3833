import { TeleopError } from '../../../core/errors.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { RobotModel } from '../../../geometry/robot-model.ts';
import { loadMujoco } from '../../../world/mujoco.ts';
import type { DriverPlugin } from '../../driver.ts';
import { config, type WorldConfig } from './config.ts';
import { SecondArmDriver } from './second-arm-driver.ts';
import { WorldDriver } from './world-driver.ts';

/** The left arm of a world of two, until the right one joins it. */
let waiting: { host: WorldDriver; model: RobotModel } | null = null;

const plugin: DriverPlugin<WorldConfig> = {
  about: 'a simulated arm and gripper with physics and tasks',
  config,
  // Two arms share one world, so both drivers run on one thread.
  inline: ({ arm }) => arm !== '',
  async open(options, model, clock: Clock) {
    if (options.arm === 'right') return joined(model);
    const host = new WorldDriver(options, model, await loadMujoco(), clock.nowNs());
    if (options.arm === 'left') waiting = { host, model };
    return host;
  },
};

function joined(model: RobotModel): SecondArmDriver {
  const left = waiting;
  waiting = null;
  const second = left?.host.second;
  if (left === null || !second || left.host.isDisposed || left.model.name !== model.name)
    throw new TeleopError(
      'bad-config',
      'the right arm has no left arm of the same model to share a world with',
      {
        hint: 'Run both arms in one robot process: farhand demo --rig world-two.',
      },
    );
  return new SecondArmDriver(left.host, second);
}

export default plugin;
