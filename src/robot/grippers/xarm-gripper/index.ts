// UNVERIFIED ON HARDWARE
import { TeleopError } from '../../../core/errors.ts';
import { ModbusDevice } from '../../buses/modbus/modbus.ts';
import { RtuLine } from '../../buses/modbus/rtu-line.ts';
import { openGripper } from '../../buses/open-gripper.ts';
import type { GripperPlugin } from '../../gripper.ts';
import { BoxPort } from './box-port.ts';
import { type XarmGripperConfig, xarmGripperConfig } from './config.ts';
import { PulseLink } from './pulse-link.ts';

const plugin: GripperPlugin<XarmGripperConfig> = {
  about: 'UFACTORY xArm gripper: through the arm’s control box, or RS485',
  config: xarmGripperConfig,
  async open(config, arm, clock) {
    const host = config.host || arm.host;
    if (config.port === '' && host === '')
      throw new TeleopError('bad-config', 'the gripper has no address', {
        hint: 'Set robot.gripperOptions.host to the control box, or robot.gripperOptions.port for RS485.',
      });
    if (config.openPulse === config.closedPulse)
      throw new TeleopError('bad-config', 'openPulse and closedPulse are equal', {
        hint: 'Set robot.gripperOptions.openPulse and closedPulse to the ends of its range.',
      });
    const isSerial = config.port !== '';
    const port = isSerial
      ? await RtuLine.open(config.port, config.baudRate)
      : new BoxPort(host, config.commandPort);
    const where = isSerial ? config.port : `${host}:${config.commandPort}`;
    const hint =
      'Check its cable, and that its Modbus address (robot.gripperOptions.slave) and baud rate are right.';
    return openGripper(new PulseLink(new ModbusDevice(port, config.slave), config), clock, where, hint);
  },
};

export default plugin;
