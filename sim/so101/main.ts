import { unlinkSync } from 'node:fs';
import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { FdWatcher } from '../../src/robot/buses/fd-watcher.ts';
import { loadBusLibc } from '../../src/robot/buses/libc.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { JSON_OPTION, Narrator } from '../narrator.ts';
import { replaceLink } from '../pty-link.ts';
import { runSteps } from '../stepper.ts';
import { onCommands } from '../tcp.ts';
import { SimArm } from './arm.ts';

export const about = 'an SO-101 arm, follower or leader: six STS3215 servos on a pseudo-terminal';
export const details = `Commands on standard input: hold (something is between the jaws), free, heat, cool, silence, speak.`;

export const examples = [
  'farhand sim so101 --port ./so101.tty',
  'farhand sim so101 --port ./leader.tty --sway 10',
];

export const options: Record<string, OptionSpec> = {
  port: { type: 'string', value: 'PATH', about: 'where to put the link to the pseudo-terminal' },
  sway: { type: 'string', value: 'DEG', about: 'how far joint 1 is moved to either side, without power' },
  held: {
    type: 'boolean',
    about: 'a leader in a person’s hand: with torque, a soft spring to where it is moved',
  },
  json: JSON_OPTION,
};

const STEP_S = 0.002;
const SWAY_S = 4;
const NO_SPEEDS = [0, 0, 0, 0, 0];

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const link = given.values['port'];
  if (typeof link !== 'string')
    throw new TeleopError('bad-option', 'sim so101 needs --port PATH', {
      hint: 'Give a path for the link, for example --port ./so101.tty.',
    });
  const swayRad = ((numberOption(given, 'sway', 0, 90) ?? 0) * Math.PI) / 180;
  const pty = await openPty();
  const arm = new SimArm(pty);
  const narrator = new Narrator(given.values['json'] === true);
  replaceLink(pty.path, link, '--port');
  const watcher = new FdWatcher(await loadBusLibc(), pty.fd, () => arm.answer());
  const endSteps = runSteps(STEP_S, (made) => {
    if (swayRad > 0) arm.lead([swayRad * Math.sin((2 * Math.PI * made * STEP_S) / SWAY_S), 0, 0, 0, 0]);
    arm.step(STEP_S);
    narrator.arm(arm.positionsRad, NO_SPEEDS, arm.gripper);
  });
  if (given.values['held'] === true) arm.hold();
  const act = actions(arm);
  onCommands((word) => act[word]?.(), stop);
  console.log(`sim so101: ready: ${link} → ${pty.path}`);
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  endSteps();
  // The watcher closes the terminal.
  watcher.end();
  unlinkSync(link);
  return 0;
}

function actions(arm: SimArm): Record<string, () => void> {
  return {
    hold: () => {
      arm.servos[5]!.blockedBelow = 2700;
    },
    free: () => {
      arm.servos[5]!.blockedBelow = Number.NEGATIVE_INFINITY;
    },
    heat: () => {
      arm.servos[2]!.table[63] = 80;
    },
    cool: () => {
      arm.servos[2]!.table[63] = 30;
    },
    silence: () => {
      arm.silent = true;
    },
    speak: () => {
      arm.silent = false;
    },
  };
}
