// UNVERIFIED ON HARDWARE
import { TeleopError } from '../../../core/errors.ts';
import { ModbusDevice } from '../../buses/modbus/modbus.ts';
import { RtuLine } from '../../buses/modbus/rtu-line.ts';
import { openGripper } from '../../buses/open-gripper.ts';
import type { GripperPlugin } from '../../gripper.ts';
import { type RobotiqConfig, robotiqConfig } from './config.ts';
import { ModbusLink } from './modbus-link.ts';
import { UrcapLink } from './urcap-link.ts';
import { UrcapSocket } from './urcap-socket.ts';

const plugin: GripperPlugin<RobotiqConfig> = {
  about: 'Robotiq 2F-85 and 2F-140: socket of the URCap, or Modbus RTU',
  config: robotiqConfig,
  async open(config, arm, clock) {
    if (config.openCount >= config.closedCount)
      throw new TeleopError('bad-config', 'openCount must be below closedCount', {
        hint: 'Set robot.gripperOptions.openCount and closedCount as the gripper reports them.',
      });
    if (config.port !== '') {
      const device = new ModbusDevice(await RtuLine.open(config.port, config.baudRate), config.slave);
      const hint = 'Check its power, its Modbus address (robot.gripperOptions.slave) and baudRate.';
      return openGripper(new ModbusLink(device, config), clock, config.port, hint);
    }
    const host = config.host || arm.host;
    if (host === '')
      throw new TeleopError('bad-config', 'the gripper has no address', {
        hint: 'Set robot.gripperOptions.host, or robot.gripperOptions.port for Modbus RTU.',
      });
    const link = new UrcapLink(new UrcapSocket(host, config.socketPort), config);
    const hint = 'Check that Robotiq’s URCap is installed on the controller, and robot.gripperOptions.host.';
    return openGripper(link, clock, `${host}:${config.socketPort}`, hint);
  },
};

export default plugin;
