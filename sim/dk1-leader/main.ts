import { unlinkSync } from 'node:fs';
import { type Given, numberOption, type OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { JSON_OPTION } from '../narrator.ts';
import { replaceLink } from '../pty-link.ts';
import { SimLeader } from './leader.ts';

export const about =
  'TRLC DK1 leader arm: seven Dynamixel motors on a pseudo-terminal, moved by a simulated hand.';
export const details = `It starts in the follower's home pose. Joint 1 sways by that many degrees to either side, with a period of four seconds.
A motor with a goal current meets a hand that holds the joint like a soft spring; weight is not simulated. With --json
it prints the joints and their torques ten times a second.`;

export const examples = [
  'farhand sim dk1-leader --port ./leader.tty --sway 10',
  'farhand leader --port ./leader.tty',
];

export const options: Record<string, OptionSpec> = {
  port: { type: 'string', value: 'PATH', about: 'where to put the link to the pseudo-terminal' },
  sway: { type: 'string', value: 'DEG', about: 'how far joint 1 is moved to either side (default: 0)' },
  json: JSON_OPTION,
  seconds: { type: 'string', value: 'S', about: 'end after S seconds (default: at Ctrl-C)' },
};

const GRIPPER_OPEN_TICKS = 2280;
const SWAY_MS = 4000;
const PRINT_MS = 100;

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const link = given.values['port'];
  if (typeof link !== 'string')
    throw new TeleopError('bad-option', 'sim dk1-leader needs --port PATH', {
      hint: 'Give a path for the link, for example --port ./leader.tty.',
    });
  const swayRad = ((numberOption(given, 'sway', 0, 90) ?? 0) * Math.PI) / 180;
  const seconds = numberOption(given, 'seconds', 0.1, 86_400);
  const { homeRad } = loadModel('dk1');
  const pty = await openPty();
  const leader = new SimLeader(pty, [...homeRad.map(() => 2048), GRIPPER_OPEN_TICKS]);
  replaceLink(pty.path, link, '--port');
  console.log(`sim dk1-leader ready: ${link} → ${pty.path}`);
  await new Promise<void>((resolve) => {
    const startMs = performance.now();
    let printedMs = startMs;
    const ticker = setInterval(() => {
      const nowMs = performance.now();
      const aside = swayRad * Math.sin((2 * Math.PI * (nowMs - startMs)) / SWAY_MS);
      leader.lead([homeRad[0]! + aside, ...homeRad.slice(1)]);
      leader.tick(nowMs);
      if (given.values['json'] === true && nowMs - printedMs >= PRINT_MS) {
        printedMs = nowMs;
        console.log(JSON.stringify({ jointsRad: leader.jointsRad, torquesNm: leader.torquesNm }));
      }
      if (seconds !== null && nowMs - startMs > seconds * 1000) end();
    }, 1);
    const end = () => {
      clearInterval(ticker);
      resolve();
    };
    stop.addEventListener('abort', end);
    if (stop.aborted) end();
  });
  unlinkSync(link);
  pty.close();
  return 0;
}
