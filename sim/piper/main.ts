import { unlinkSync } from 'node:fs';
import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { frameText } from '../../src/robot/buses/can-frame.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { ID } from '../../src/robot/drivers/piper/frames.ts';
import { JSON_OPTION, Narrator } from '../narrator.ts';
import { replaceLink } from '../pty-link.ts';
import { WORLD_OPTIONS, WorldPlant } from '../world-plant.ts';
import { STROKE_M } from './arm.ts';
import { PiperSimulation } from './simulation.ts';

export const about = 'AgileX Piper behind a serial CAN adapter (SLCAN on a pseudo-terminal)';

export const details = `Creates a pseudo-terminal and a symbolic link PATH to it, which a driver opens like an adapter.

3,040 feedback frames per second; stop, resume, enabling, roles, joint and pose commands, gripper, limits, firmware reply.
Without power the heavy joints sag; this is printed. With --json every stop and resume frame (150#…) is reported.`;

export const examples = [
  'farhand sim piper --slcan /tmp/piper',
  'farhand can dump --slcan /tmp/piper --seconds 2',
];

export const options: Record<string, OptionSpec> = {
  slcan: { type: 'string', value: 'PATH', about: 'where to put the link to the pseudo-terminal' },
  firmware: { type: 'string', value: 'new|old', about: '1.8-2 (default), or 1.5-2 with the older zero' },
  start: { type: 'string', value: 'DEG,…', about: 'joint angles at the start (default: all 0)' },
  leader: { type: 'boolean', about: 'start in the leader role: no feedback until switched to follower' },
  canable2: { type: 'boolean', about: 'simulate an adapter that acknowledges nothing' },
  ...WORLD_OPTIONS,
  json: JSON_OPTION,
  seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: at Ctrl-C)' },
};

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const link = given.values['slcan'];
  if (typeof link !== 'string')
    throw new TeleopError('bad-option', 'sim piper needs --slcan PATH', {
      hint: 'Give a path for the link, for example --slcan /tmp/piper.',
    });
  const seconds = numberOption(given, 'seconds', 0.1, 86_400);
  const startRad = startOf(given);
  const plant = await WorldPlant.chosen(
    given,
    loadModel(firmwareOf(given) === 'new' ? 'piper' : 'piper-old'),
  );
  if (plant !== null) plant.onProgress = (what) => console.log(`sim piper: ${what}`);
  const pty = await openPty();
  const simulation = new PiperSimulation(pty, {
    firmware: firmwareOf(given),
    plant,
    ...(startRad !== null && plant === null && { startRad }),
    leader: given.values['leader'] === true,
    acknowledges: given.values['canable2'] !== true,
    onEvent: (what) => console.error(`sim piper: ${what}`),
  });
  const narrator = new Narrator(given.values['json'] === true);
  simulation.onCommand = (frame) => {
    if (frame.id === ID.stop) narrator.event(frameText(frame));
  };
  replaceLink(pty.path, link, '--slcan');
  console.log(`sim piper ready: ${link} → ${pty.path}`);
  await new Promise<void>((resolve) => {
    const ticker = setInterval(() => {
      simulation.tick(performance.now());
      const { positionsRad, velocitiesRadS, gripperM } = simulation.arm;
      narrator.arm(positionsRad, velocitiesRadS, 1 - gripperM / STROKE_M);
    }, 1);
    const end = () => {
      clearInterval(ticker);
      clearTimeout(timer);
      resolve();
    };
    const timer = seconds === null ? undefined : setTimeout(end, seconds * 1000);
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
  });
  unlinkSync(link);
  pty.close();
  return 0;
}

function firmwareOf(given: Given): 'new' | 'old' {
  const text = given.values['firmware'] ?? 'new';
  if (text === 'new' || text === 'old') return text;
  throw new TeleopError('bad-option', `--firmware ${String(text)} is not known`, {
    hint: 'Choose new or old.',
  });
}

function startOf(given: Given): number[] | null {
  const text = given.values['start'];
  if (typeof text !== 'string') return null;
  const angles = text.split(',').map((part) => (Number(part) * Math.PI) / 180);
  if (angles.length === 6 && angles.every(Number.isFinite)) return angles;
  throw new TeleopError('bad-option', `--start ${text} is not six angles`, {
    hint: 'Give six angles in degrees, separated by commas, for example --start 0,90,-90,0,0,0.',
  });
}
