// UNVERIFIED ON HARDWARE: tested only against the simulators, see docs/drivers/vlai-l1.md.
import { armSpec } from '../../buses/damiao/arm-config.ts';
import { openDamiaoArm } from '../../buses/damiao/open.ts';
import type { DriverPlugin } from '../../driver.ts';
import { type VlaiConfig, vlaiConfig } from './config.ts';
import { openDdsTopics } from './dds-topics.ts';
import { VlaiRosDriver } from './ros-driver.ts';
import { openRosbridgeTopics } from './rosbridge-topics.ts';

const plugin: DriverPlugin<VlaiConfig> = {
  about: 'VLAI L1, one arm: over CAN FD, through its ROS 2 node, or through rosbridge',
  config: vlaiConfig,
  open({ via, side, can, ros }, model, clock) {
    if (via === 'can') return openDamiaoArm(can.bus, armSpec(can, model), model, clock);
    return VlaiRosDriver.open(ros, side, clock, via === 'ros2' ? openDdsTopics : openRosbridgeTopics);
  },
};

export default plugin;
