import { setTimeout as sleep } from 'node:timers/promises';
import { TeleopError } from '../core/errors.ts';
import { monotonicClock } from '../core/time/clock.ts';
import { CanBus } from '../robot/buses/can.ts';
import { type CanFrame, frameText, hexOf, parseFrameText } from '../robot/buses/can-frame.ts';
import { canBackend } from '../robot/buses/open-can.ts';
import { type Given, JSON_OPTION, numberOption, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

/** Time for an adapter to open its channel, and for a frame to leave it. */
const SETTLE_MS = 100;

export const canVerb: Verb = {
  name: 'can',
  usage: '(dump | send FRAME …) (--slcan PATH | --socketcan NAME)',
  about: 'Shows the frames on a CAN bus, or sends frames.',
  details: `Frames use the notation of candump and cansend: 155#00002CC300002CC3, 0C34567F#0102, 100#R, 005##18A3C for CAN FD.
dump ends with the number of frames, the bus load (an upper bound) and the errors.`,
  examples: [
    'farhand can dump --slcan /dev/ttyACM0 --seconds 2',
    'farhand can send --socketcan can0 150#0100000000000000',
  ],
  options: {
    slcan: { type: 'string', value: 'PATH', about: 'serial adapter' },
    socketcan: { type: 'string', value: 'NAME', about: 'kernel CAN interface, such as can0' },
    bitrate: { type: 'string', value: 'BIT/S', about: 'bit rate of a serial adapter (default: 1000000)' },
    seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: on Ctrl-C)' },
    json: JSON_OPTION,
  },
  async run(given: Given) {
    const [what, ...words] = given.words;
    if (what === 'dump' && words.length === 0) return dump(given);
    if (what === 'send' && words.length > 0) return send(given, words);
    throw new TeleopError('bad-option', `can has no action "${given.words.join(' ')}"`, {
      hint: 'Use `farhand can dump` or `farhand can send FRAME …`, with --slcan or --socketcan.',
    });
  },
};

async function dump(given: Given): Promise<number> {
  const seconds = numberOption(given, 'seconds', 0.1, 86_400);
  const startNs = monotonicClock.nowNs();
  const atS = () => (monotonicClock.nowNs() - startNs) / 1e9;
  const bus = await openBus(given, (frame) => console.log(lineOf(given, frame, atS())));
  await new Promise<void>((resolve) => {
    const timer = seconds === null ? undefined : setTimeout(resolve, seconds * 1000);
    onEndRequest(() => {
      clearTimeout(timer);
      resolve();
    });
  });
  const load = bus.load();
  const { received, errors, lastError, lost } = bus.stats;
  bus.close();
  const ranS = atS();
  if (given.values['json'] === true)
    console.log(JSON.stringify({ received, errors, lastError, lost, load, seconds: ranS }));
  else
    console.error(
      `${received} frames in ${ranS.toFixed(1)} s (${Math.round(received / ranS)}/s), bus load up to ${(100 * load).toFixed(0)} %, ${errors} errors${lastError && ` (last: ${lastError})`}, ${lost} losses`,
    );
  return 0;
}

async function send(given: Given, words: readonly string[]): Promise<number> {
  const frames = words.map((word) => {
    const frame = parseFrameText(word);
    if (frame !== null) return frame;
    throw new TeleopError('bad-option', `"${word}" is not a CAN frame`, {
      hint: 'Write ID#DATA in hex, for example 155#00002CC300002CC3.',
    });
  });
  const bus = await openBus(given, () => {});
  await sleep(SETTLE_MS);
  const all = bus.send(frames);
  await sleep(SETTLE_MS);
  const { sent, errors, lastError } = bus.stats;
  bus.close();
  if (given.values['json'] === true) console.log(JSON.stringify({ sent, errors, lastError }));
  else if (errors > 0) console.error(`farhand: ${lastError}`);
  if (!all) console.error(`farhand: the bus accepted only ${sent} of ${frames.length} frames`);
  return all && errors === 0 ? 0 : 1;
}

function openBus(given: Given, onFrame: (frame: CanFrame) => void): Promise<CanBus> {
  const { slcan, socketcan } = given.values;
  if ((slcan === undefined) === (socketcan === undefined))
    throw new TeleopError('bad-option', 'can needs either --slcan or --socketcan', {
      hint: 'For example --slcan /dev/ttyACM0, or --socketcan can0.',
    });
  const bitrate = numberOption(given, 'bitrate', 10_000, 1_000_000) ?? 1_000_000;
  const name = slcan === undefined ? `socketcan:${String(socketcan)}` : `slcan:${String(slcan)}`;
  const options = {
    bitrate,
    onFrame,
    onLost: (why: string) => console.error(`farhand: connection to the bus lost: ${why}`),
  };
  return CanBus.open(canBackend(name, bitrate), options, monotonicClock);
}

function lineOf(given: Given, frame: CanFrame, atS: number): string {
  if (given.values['json'] !== true) return `(${atS.toFixed(6)}) ${frameText(frame)}`;
  const { id, extended, remote, fd, bitRateSwitch, length, data } = frame;
  const bytes = remote ? '' : hexOf(data, length);
  return JSON.stringify({ atS, id, extended, remote, fd, bitRateSwitch, length, data: bytes });
}
