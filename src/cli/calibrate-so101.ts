import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { FEETECH_STS } from '../robot/buses/feetech/feetech-scs.ts';
import { SIGN_BIT, STS, toSigned } from '../robot/buses/feetech/sts3215.ts';
import { serialLine } from '../robot/buses/serial-line.ts';
import { ServoBus } from '../robot/buses/servo/servo-bus.ts';
import { loadCalibration, saveCalibration } from '../robot/drivers/so101/calibration-file.ts';
import { identify, set, storedCalibration } from '../robot/drivers/so101/prepare.ts';
import { type Given, numberOption, type Verb } from './arguments.ts';

export const calibrateSo101: Verb = {
  name: 'calibrate so101',
  usage: '--port PATH --file FILE [--apply]',
  about: 'Writes an SO-101’s calibration to a file in LeRobot’s format, or a file’s to the servos.',
  details: `The servos store their homing offset and range, as \`lerobot-calibrate\` leaves them there; this reads them into FILE.
With --apply it writes FILE to the servos instead: their torque is switched off first, so hold the arm.`,
  examples: [
    'farhand calibrate so101 --port /dev/ttyACM0 --file follower.json',
    'farhand calibrate so101 --port /dev/ttyACM0 --file follower.json --apply',
  ],
  options: {
    port: { type: 'string', value: 'PATH', about: 'serial port of the arm' },
    file: { type: 'string', value: 'FILE', about: 'calibration in LeRobot’s JSON' },
    apply: { type: 'boolean', about: 'write the file to the servos; the arm goes limp' },
    baud: { type: 'string', value: 'N', about: 'baud rate (default: 1000000)' },
  },
  async run(given: Given) {
    const { port, file } = given.values;
    if (typeof port !== 'string' || typeof file !== 'string')
      throw new TeleopError('bad-option', 'calibrate so101 needs --port PATH and --file FILE', {
        hint: 'Find the port with `ls /dev/serial/by-id`.',
      });
    const isApplied = given.values['apply'] === true;
    const wanted = isApplied ? loadCalibration(file) : [];
    const baudRate = numberOption(given, 'baud', 38_400, 1_000_000) ?? 1_000_000;
    const bus = await ServoBus.open(serialLine(port, baudRate), FEETECH_STS, monotonicClock);
    try {
      await identify(bus);
      for (const { id, homing_offset, range_min, range_max } of wanted) {
        await set(bus, id, STS.torqueEnable, 0);
        await set(bus, id, STS.lock, 0);
        await set(bus, id, STS.homingOffset, toSigned(homing_offset, SIGN_BIT.homingOffset));
        await set(bus, id, STS.minPosition, range_min);
        await set(bus, id, STS.maxPosition, range_max);
        await set(bus, id, STS.lock, 1);
      }
      if (!isApplied) saveCalibration(file, await storedCalibration(bus));
      console.log(isApplied ? `the servos now have the calibration of ${file}` : `written: ${file}`);
      return 0;
    } finally {
      bus.close();
    }
  },
};
