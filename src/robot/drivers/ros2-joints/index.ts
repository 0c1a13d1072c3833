// UNVERIFIED ON HARDWARE: tested only against CycloneDDS and the simulator, see docs/drivers/ros2.md.
import type { DriverPlugin } from '../../driver.ts';
import { type Ros2JointsConfig, ros2JointsConfig } from './config.ts';
import { openRos2Joints } from './open.ts';

const plugin: DriverPlugin<Ros2JointsConfig> = {
  about: 'joints behind a ROS 2 node (Float64MultiArray out, JointState in), without ROS installed',
  config: ros2JointsConfig,
  open: openRos2Joints,
};

export default plugin;
