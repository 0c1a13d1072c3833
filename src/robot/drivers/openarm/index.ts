// UNVERIFIED ON HARDWARE: tested only against the simulator and third-party Damiao libraries, see
// docs/drivers/openarm.md.

import { type ArmConfig, armConfig, armSpec } from '../../buses/damiao/arm-config.ts';
import { OPENARM } from '../../buses/damiao/arms.ts';
import { openDamiaoArm } from '../../buses/damiao/open.ts';
import type { DriverPlugin } from '../../driver.ts';

const plugin: DriverPlugin<ArmConfig> = {
  about: 'Enactic OpenArm: seven Damiao motors and gripper over CAN FD or CAN',
  config: armConfig(OPENARM),
  open: (config, model, clock) => openDamiaoArm(config.bus, armSpec(config, model), model, clock),
};

export default plugin;
