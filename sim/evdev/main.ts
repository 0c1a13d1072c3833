import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import type { Given, OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { CONTROL_AXES } from '../../src/input/codecs/controls-codec.ts';
import { encodeEvent } from '../../src/input/codecs/evdev-codec.ts';
import { runSteps } from '../stepper.ts';
import { onCommands } from '../tcp.ts';

export const about =
  'a device of Linux’s input layer, such as a SpaceMouse or foot pedals: a pipe with its events';
export const details = `Commands on standard input: press KEY, release KEY (codes: 30 is A, 256 and 257 are a SpaceMouse’s buttons);
axis AXIS COUNTS (0 to 5; full deflection is 350). A deflected axis is reported every 16 ms, as a SpaceMouse does.`;

export const examples = [
  'farhand sim evdev --file ./pedal.events',
  'farhand operator operator.inputs.pedal.device=./pedal.events',
];

export const options: Record<string, OptionSpec> = {
  file: { type: 'string', value: 'PATH', about: 'where to put the pipe' },
};

const STEP_S = 0.016;

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const file = given.values['file'];
  if (typeof file !== 'string')
    throw new TeleopError('bad-option', 'sim evdev needs --file PATH', {
      hint: 'Give a path for the pipe, for example --file ./pedal.events.',
    });
  rmSync(file, { force: true });
  if (spawnSync('mkfifo', [file]).status !== 0)
    throw new TeleopError('bad-option', `cannot make the pipe ${file}`, {
      hint: 'Give a path in a folder that exists and that you may write.',
    });
  // Open for reading too: writing then waits for nobody, and a reader may come and go.
  const pipe = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
  const device = new SimDevice(pipe);
  const endSteps = runSteps(STEP_S, () => device.step());
  onCommands((line) => device.act(line), stop);
  console.log(`sim evdev: ready: ${file}`);
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  endSteps();
  closeSync(pipe);
  rmSync(file, { force: true });
  return 0;
}

class SimDevice {
  readonly #pipe: number;
  readonly #axes = new Int16Array(CONTROL_AXES);

  constructor(pipe: number) {
    this.#pipe = pipe;
  }

  act(line: string): void {
    const [word, first, second] = line.split(/\s+/);
    const [code, value] = [Number(first), Number(second)];
    if (word === 'press' && Number.isInteger(code)) this.#write(encodeEvent('key', code, 1));
    else if (word === 'release' && Number.isInteger(code)) this.#write(encodeEvent('key', code, 0));
    else if (word === 'axis' && code in this.#axes && Number.isInteger(value)) this.#axes[code] = value;
    else console.error('sim evdev: press KEY, release KEY or axis AXIS COUNTS');
  }

  step(): void {
    const events = [...this.#axes].flatMap((value, axis) =>
      value === 0 ? [] : [encodeEvent('relative', axis, value)],
    );
    if (events.length > 0) this.#write(...events);
  }

  /** Without a reader the pipe fills up; events are then lost, as a kernel's are. */
  #write(...events: Uint8Array[]): void {
    try {
      writeSync(this.#pipe, Buffer.concat([...events, encodeEvent('syn', 0, 0)]));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
