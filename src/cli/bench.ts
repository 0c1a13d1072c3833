import { compareTransports } from '../app/compare-transports.ts';
import { TeleopError } from '../core/errors.ts';
import { type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { comparisonText } from './comparison-text.ts';
import { onEndRequest } from './process.ts';
import { progressLine } from './progress.ts';

export const benchVerb: Verb = {
  name: 'bench',
  usage: 'transports [--slices N] [--seconds S] [key=value …]',
  about: 'Compares UDP and ZeroMQ on the same link, alternating, with confidence intervals.',
  details: `Each slice runs both roles as processes, without a playout buffer, and discards their first second.
Times are from sampling to the robot acting on that command or a newer one. The intervals (95 %) come from resampling whole slices.`,
  examples: ['farhand bench transports', 'farhand bench transports --slices 12 --seconds 10 --json'],
  options: {
    rig: RIG_OPTION,
    slices: { type: 'string', value: 'N', about: 'slices of each transport (default: 6)' },
    seconds: { type: 'string', value: 'S', about: 'seconds measured in each slice (default: 5)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    if (given.words[0] !== 'transports' || given.words.length > 1)
      throw new TeleopError(
        'bad-option',
        given.words.length === 0 ? 'bench needs a name' : `there is no bench "${given.words.join(' ')}"`,
        {
          hint: 'Use `farhand bench transports`; from a checkout, `npm run bench` has more.',
        },
      );
    const progress = progressLine('comparing');
    const result = await compareTransports({
      rig: String(given.values['rig'] ?? 'demo'),
      overrides: given.overrides,
      transports: ['udp', 'zmq'],
      slices: Math.round(numberOption(given, 'slices', 2, 1000) ?? 6),
      secondsPerSlice: numberOption(given, 'seconds', 1, 3600) ?? 5,
      stop: new Promise((resolve) => onEndRequest(resolve)),
      onProgress: progress.update,
    });
    progress.done();
    console.log(given.values['json'] === true ? JSON.stringify(result) : comparisonText(result));
    return 0;
  },
};
