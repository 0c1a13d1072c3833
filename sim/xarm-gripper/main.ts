import { unlinkSync } from 'node:fs';
import type { Given, OptionSpec } from '../../src/cli/arguments.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { ModbusSlave } from '../modbus-slave.ts';
import { replaceLink } from '../pty-link.ts';
import { runSteps } from '../stepper.ts';
import { onCommands } from '../tcp.ts';
import { XarmGripper } from './gripper.ts';

export const about = 'UFACTORY’s xArm gripper on its RS485 line: Modbus RTU on a pseudo-terminal';
export const details = `\`farhand sim xarm6\` has one too, behind its control box. Commands on standard input: hold (something is between the
fingers), free, fault, clear, silence, speak, split (replies in pieces).`;

export const examples = ['farhand sim xarm-gripper --serial ./gripper.tty'];

export const options: Record<string, OptionSpec> = {
  serial: { type: 'string', value: 'PATH', about: 'where to put the link to the pseudo-terminal' },
};

const STEP_S = 0.002;
const SLAVE = 8;

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const link = given.values['serial'];
  if (typeof link !== 'string')
    throw new TeleopError('bad-option', 'sim xarm-gripper needs --serial PATH', {
      hint: 'Give a path for the link, for example --serial ./gripper.tty.',
    });
  const gripper = new XarmGripper();
  const pty = await openPty();
  const slave = new ModbusSlave(pty, SLAVE, gripper);
  replaceLink(pty.path, link, '--serial');
  const endSteps = runSteps(STEP_S, () => gripper.step(STEP_S));
  const ticker = setInterval(() => slave.tick(), 1);
  const act = gripperActions(gripper, slave);
  onCommands((word) => act[word]?.(), stop);
  console.log(`sim xarm-gripper: ready: ${link} → ${pty.path}`);
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  endSteps();
  clearInterval(ticker);
  unlinkSync(link);
  pty.close();
  return 0;
}

function gripperActions(
  gripper: XarmGripper,
  wire: { silent: boolean; split: boolean },
): Record<string, () => void> {
  return {
    hold: () => {
      gripper.fingers.heldAt = 0.5;
    },
    free: () => {
      gripper.fingers.heldAt = 1;
    },
    fault: () => {
      gripper.error = 17;
    },
    clear: () => {
      gripper.error = 0;
    },
    silence: () => {
      wire.silent = true;
    },
    speak: () => {
      wire.silent = false;
    },
    split: () => {
      wire.split = true;
    },
  };
}
