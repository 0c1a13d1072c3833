import { createInterface } from 'node:readline/promises';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { DYNAMIXEL_2 } from '../robot/buses/dynamixel/dynamixel-2.ts';
import { serialLine } from '../robot/buses/serial-line.ts';
import { ServoBus } from '../robot/buses/servo/servo-bus.ts';
import { calibrateHand } from '../robot/drivers/orca/calibrate.ts';
import { defaultCalibrationFile, readRanges, saveRanges } from '../robot/drivers/orca/calibration-file.ts';
import { HANDS, type Hand } from '../robot/drivers/orca/hands.ts';
import { identify } from '../robot/drivers/orca/open.ts';
import { type Given, numberOption, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

export const calibrateOrca: Verb = {
  name: 'calibrate orca',
  usage: '--port PATH --hand VERSION-SIDE [options]',
  about: 'Drives every joint of an ORCA hand against its stops and stores their positions.',
  details: `The hand moves: keep it empty and clear. Every step is saved; Ctrl-C leaves the hand limp.`,
  examples: ['farhand calibrate orca --port /dev/ttyUSB0 --hand v2-right'],
  options: {
    port: { type: 'string', value: 'PATH', about: 'serial port of the hand' },
    hand: { type: 'string', value: 'VERSION-SIDE', about: 'v1-right, v1-left, v2-right or v2-left' },
    file: { type: 'string', value: 'FILE', about: 'where to write (default: <model>.calibration.json)' },
    baud: { type: 'string', value: 'N', about: 'baud rate (default: 3000000 for v1, 1000000 for v2)' },
    resume: { type: 'boolean', about: 'skip joints that the file already has' },
    yes: { type: 'boolean', about: 'do not ask for confirmation' },
  },
  async run(given: Given) {
    const hand = handOf(given);
    const port = given.values['port'];
    if (typeof port !== 'string')
      throw new TeleopError('bad-option', 'calibrate orca needs --port PATH', {
        hint: 'Find it with `ls /dev/serial/by-id`.',
      });
    const file = String(given.values['file'] ?? defaultCalibrationFile(hand));
    const before = readRanges(file, hand);
    if (given.values['yes'] !== true && !(await agreed(hand))) return 1;
    let aborted = false;
    onEndRequest(() => {
      aborted = true;
    });
    const baudRate = numberOption(given, 'baud', 9600, 4_500_000) ?? hand.baudRate;
    const bus = await ServoBus.open(serialLine(port, baudRate), DYNAMIXEL_2, monotonicClock);
    try {
      await identify(bus, hand);
      await calibrateHand(bus, hand, {
        known: given.values['resume'] === true ? before : {},
        save: (ranges) => saveRanges(file, hand, { ...before, ...ranges }),
        onStep: (i, count, { joints, direction }) =>
          console.log(`${i + 1}/${count} ${direction} ${joints.join(', ')}`),
        isAborted: () => aborted,
      });
      console.log(`calibrated: ${file}`);
      return 0;
    } finally {
      bus.close();
    }
  },
};

function handOf(given: Given): Hand {
  const name = String(given.values['hand'] ?? '');
  const hand = HANDS.find((candidate) => candidate.name === `orca-${name}`);
  if (hand !== undefined) return hand;
  throw new TeleopError('bad-option', `there is no ORCA hand "${name}"`, {
    hint: `Give --hand with one of ${HANDS.map((candidate) => candidate.name.slice('orca-'.length)).join(', ')}.`,
  });
}

async function agreed(hand: Hand): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new TeleopError(
      'bad-option',
      'calibrate orca moves the hand, and there is no terminal to confirm on',
      {
        hint: 'Empty the hand, clear its surroundings, and add --yes.',
      },
    );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `${hand.name} will move every joint to its stops. Is the hand empty and clear? [yes/no] `,
  );
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
