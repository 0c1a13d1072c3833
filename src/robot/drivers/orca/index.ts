// UNVERIFIED ON HARDWARE: tested only against the simulator and the motor vendor's SDK, see
// docs/drivers/orca.md.
import type { DriverPlugin } from '../../driver.ts';
import { type OrcaConfig, orcaConfig } from './config.ts';
import { openOrca } from './open.ts';

const plugin: DriverPlugin<OrcaConfig> = {
  about: 'ORCA hand, v1 or v2, left or right: 17 Dynamixel motors on a serial port',
  config: orcaConfig,
  open: (config, model, clock) => openOrca(config, model, clock),
};

export default plugin;
