// UNVERIFIED ON HARDWARE: tested only against the simulator and third-party Damiao libraries, see
// docs/drivers/dk1.md.

import { type ArmConfig, armConfig, armSpec } from '../../buses/damiao/arm-config.ts';
import { DK1 } from '../../buses/damiao/arms.ts';
import { openDamiaoArm } from '../../buses/damiao/open.ts';
import type { DriverPlugin } from '../../driver.ts';

const plugin: DriverPlugin<ArmConfig> = {
  about: 'TRLC DK1 follower: six Damiao motors and gripper behind Damiao’s serial adapter',
  config: armConfig(DK1),
  open: (config, model, clock) => openDamiaoArm(config.bus, armSpec(config, model), model, clock),
};

export default plugin;
