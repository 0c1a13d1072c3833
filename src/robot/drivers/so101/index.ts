// UNVERIFIED ON HARDWARE
import { TeleopError } from '../../../core/errors.ts';
import { FEETECH_STS } from '../../buses/feetech/feetech-scs.ts';
import { serialLine } from '../../buses/serial-line.ts';
import { ServoBus } from '../../buses/servo/servo-bus.ts';
import type { DriverPlugin } from '../../driver.ts';
import { loadCalibration, MOTORS } from './calibration-file.ts';
import { type So101Config, so101Config } from './config.ts';
import { expectSame, identify, storedCalibration } from './prepare.ts';
import { So101Driver } from './so101-driver.ts';
import { JointSteps } from './steps.ts';

const plugin: DriverPlugin<So101Config> = {
  about: 'SO-100 and SO-101 follower: six Feetech STS3215 servos on a serial port',
  config: so101Config,
  async open(config, model, clock) {
    if (model.joints.length !== MOTORS.length - 1)
      throw new TeleopError('bad-model', `model "${model.name}" has ${model.joints.length} joints, not 5`, {
        hint: 'Use model so101.',
      });
    const file = config.calibrationFile === '' ? null : loadCalibration(config.calibrationFile);
    const bus = await ServoBus.open(serialLine(config.port, config.baudRate), FEETECH_STS, clock);
    try {
      await identify(bus);
      const stored = await storedCalibration(bus);
      if (file !== null) expectSame(file, stored);
      return new So101Driver(
        bus,
        config,
        (file ?? stored).map((motor) => new JointSteps(motor)),
      );
    } catch (error) {
      bus.close();
      throw error;
    }
  },
};

export default plugin;
