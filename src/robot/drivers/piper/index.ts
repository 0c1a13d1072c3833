// UNVERIFIED ON HARDWARE: tested only against the simulator and the vendor's SDK, see docs/drivers/piper.md.
import type { DriverPlugin } from '../../driver.ts';
import { type PiperConfig, piperConfig } from './config.ts';
import { openPiper } from './open.ts';

const plugin: DriverPlugin<PiperConfig> = {
  about: 'AgileX Piper over CAN (SocketCAN or a serial adapter)',
  config: piperConfig,
  open: (config, model, clock) => openPiper(config, model, clock),
};

export default plugin;
