import { compareTransports, type QuantileName, type TransportComparison } from '../app/compare-transports.ts';
import { TeleopError } from '../core/errors.ts';
import type { Interval } from '../trace/bootstrap.ts';
import { type Given, JSON_OPTION, numberOption, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';
import { progressLine } from './progress.ts';

const NAMES: readonly QuantileName[] = ['p50', 'p95', 'p99', 'max'];

export const benchVerb: Verb = {
  name: 'bench',
  usage: 'transports [--slices N] [--seconds S] [key=value …]',
  about: 'Compares UDP and ZeroMQ on the same link, alternating, with confidence intervals.',
  details: `Each slice runs both roles as processes, without a playout buffer, and discards their first second.
One-way time is sampled → applied. The intervals (95 %) come from resampling whole slices.`,
  options: {
    rig: RIG_OPTION,
    slices: { type: 'string', value: 'N', about: 'slices of each transport (default: 6)' },
    seconds: { type: 'string', value: 'S', about: 'seconds measured in each slice (default: 5)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    if (given.words[0] !== 'transports' || given.words.length > 1)
      throw new TeleopError('bad-option', `there is no bench "${given.words.join(' ')}"`, {
        hint: 'Use `farhand bench transports`; from a checkout, `npm run bench` has more.',
      });
    const progress = progressLine('comparing');
    const result = await compareTransports({
      rig: String(given.values['rig'] ?? 'demo'),
      overrides: given.overrides,
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

const WIDTH = 31;
/** With fewer, all slices agree by chance more often than once in thirty. */
const LEAST_SLICES = 6;

/** A table with intervals, and the conclusion. */
export function comparisonText({
  slices,
  secondsPerSlice,
  commands,
  oneWayMs,
  differenceMs,
}: TransportComparison): string {
  const cell = ({ value, low, high }: Interval) =>
    `${value.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`.padStart(WIDTH);
  const row = (label: string, values: Record<QuantileName, Interval>) =>
    label.padEnd(12) + NAMES.map((name) => cell(values[name])).join('');
  const { low, high } = differenceMs.p50;
  const faster = high < 0 ? 'udp' : low > 0 ? 'zmq' : null;
  const verdict =
    slices < LEAST_SLICES
      ? `too few slices to tell which is faster: use --slices ${LEAST_SLICES} or more`
      : faster === null
        ? 'no significant difference in the median'
        : `${faster} is faster in the median`;
  return [
    `${slices} slices of ${secondsPerSlice} s each; ${commands.udp} commands over udp, ${commands.zmq} over zmq; one-way ms [95 %]`,
    ' '.repeat(12) + NAMES.map((name) => name.padStart(WIDTH)).join(''),
    row('udp', oneWayMs.udp),
    row('zmq', oneWayMs.zmq),
    row('udp − zmq', differenceMs),
    verdict,
  ].join('\n');
}
