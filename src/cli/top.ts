import { statSync } from 'node:fs';
import { TeleopError } from '../core/errors.ts';
import { followTrace } from '../profiler/profile-server.ts';
import { topFrame } from '../profiler/top-frame.ts';
import { loadRig } from '../rig/rig.ts';
import { expectWords, type Given, RIG_OPTION, type Verb } from './arguments.ts';
import { onEndRequest } from './process.ts';

const POLL_MS = 100;
const DRAW_MS = 500;
/** For --once: time for a live run to write its first complete records. */
const SETTLE_MS = 300;

export const topVerb: Verb = {
  name: 'top',
  usage: '[DIR|FILE] [key=value …]',
  about: 'Shows the latency of a run live in the terminal, by reading its trace.',
  details: `Follows the newest trace in DIR (default: trace.dir of the rig), or one FILE. Works over SSH; press q to quit.
It does not disturb the control processes: it only reads the file that they write anyway.`,
  examples: ['farhand top', 'farhand top traces --once'],
  options: {
    rig: RIG_OPTION,
    once: { type: 'boolean', about: 'print one frame and exit' },
  },
  async run(given) {
    expectWords(topVerb, given, 0, 1);
    const { profile, poll, close } = followTrace(whereOf(given));
    poll();
    if (profile.snapshot().file === '') {
      close();
      throw new TeleopError('no-trace', `${whereOf(given)} contains no trace yet`, {
        hint: 'Start `farhand demo` or an operator, or give the folder of its traces (trace.dir of the rig).',
      });
    }
    const frame = (colour: boolean) =>
      topFrame(profile.snapshot(), {
        columns: process.stdout.columns ?? 100,
        rows:
          process.stdout.rows === undefined || given.values['once'] === true ? 60 : process.stdout.rows - 1,
        colour,
        idleS: idleS(profile.snapshot().file),
      });
    if (given.values['once'] === true) await once(poll, profile, frame);
    else await watch(poll, frame);
    close();
    return 0;
  },
};

/** Seconds since the last write to the file. */
const idleS = (file: string): number =>
  (Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)) / 1000;

export function whereOf(given: Given): string {
  if (given.words[0] !== undefined) return given.words[0];
  const rig = loadRig((given.values['rig'] as string | undefined) ?? 'demo', given.overrides).config;
  return rig.trace.dir;
}

async function once(
  read: () => void,
  profile: { settle(): void },
  frame: (colour: boolean) => string[],
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  read();
  profile.settle();
  console.log(frame(process.stdout.isTTY).join('\n'));
}

/** Redraws in place on the terminal's alternate screen, until q, Ctrl-C or SIGTERM. */
function watch(read: () => void, frame: (colour: boolean) => string[]): Promise<void> {
  const { stdin, stdout } = process;
  const draw = () => stdout.write(`\x1b[H${frame(true).join('\x1b[K\n')}\x1b[K\x1b[J`);
  return new Promise((resolve) => {
    const polling = setInterval(read, POLL_MS);
    const drawing = setInterval(draw, DRAW_MS);
    const end = () => {
      clearInterval(polling);
      clearInterval(drawing);
      stdout.off('resize', draw);
      if (stdin.isTTY) stdin.setRawMode(false);
      stdin.pause();
      stdout.write('\x1b[?25h\x1b[?1049l');
      resolve();
    };
    stdout.write('\x1b[?1049h\x1b[?25l\x1b[2J');
    stdout.on('resize', draw);
    onEndRequest(end);
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.on('data', (keys: Buffer) => {
      // In raw mode, Ctrl-C arrives as a key.
      if (keys.includes('q') || keys.includes(3)) end();
    });
    draw();
  });
}
