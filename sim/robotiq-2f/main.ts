import { unlinkSync } from 'node:fs';
import type { Given, OptionSpec } from '../../src/cli/arguments.ts';
import { openPty } from '../../src/robot/buses/pty.ts';
import { ModbusSlave } from '../modbus-slave.ts';
import { replaceLink } from '../pty-link.ts';
import { runSteps } from '../stepper.ts';
import { Listener, onCommands, portOption } from '../tcp.ts';
import { RobotiqGripper } from './gripper.ts';
import { urcapServer } from './urcap-server.ts';

export const about = 'a Robotiq 2F gripper: the socket of its URCap, or Modbus RTU on a pseudo-terminal';
export const details = `Commands on standard input: hold (something is between the fingers), free, fault, clear, silence, speak, split (replies in
pieces), cut (all connections).`;

export const examples = ['farhand sim robotiq-2f', 'farhand sim robotiq-2f --serial ./2f.tty'];

export const options: Record<string, OptionSpec> = {
  host: { type: 'string', value: 'ADDRESS', about: 'address to listen on (default: 127.0.0.1)' },
  port: { type: 'string', value: 'PORT', about: 'port of the socket (default: 63352); 0 picks a free one' },
  serial: {
    type: 'string',
    value: 'PATH',
    about: 'Modbus RTU instead; where to put the link to the terminal',
  },
  reset: { type: 'boolean', about: 'starts without activation' },
};

const STEP_S = 0.002;
const SLAVE = 9;
const OVERCURRENT = 14;

export async function run(given: Given, stop: AbortSignal): Promise<number> {
  const { values } = given;
  const gripper = new RobotiqGripper(values['reset'] !== true);
  const end =
    typeof values['serial'] === 'string'
      ? await onSerial(gripper, values['serial'], stop)
      : await onSocket(gripper, given, stop);
  await new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  end();
  return 0;
}

async function onSerial(gripper: RobotiqGripper, link: string, stop: AbortSignal): Promise<() => void> {
  const pty = await openPty();
  const slave = new ModbusSlave(pty, SLAVE, gripper);
  replaceLink(pty.path, link, '--serial');
  const endSteps = runSteps(STEP_S, () => gripper.step(STEP_S));
  const ticker = setInterval(() => slave.tick(), 1);
  const act = actions(gripper, slave);
  onCommands((word) => act[word]?.(), stop);
  console.log(`sim robotiq-2f: ready: ${link} → ${pty.path}`);
  return () => {
    endSteps();
    clearInterval(ticker);
    unlinkSync(link);
    pty.close();
  };
}

async function onSocket(gripper: RobotiqGripper, given: Given, stop: AbortSignal): Promise<() => void> {
  const host = typeof given.values['host'] === 'string' ? given.values['host'] : '127.0.0.1';
  const flags = { silent: false, split: false };
  const listener = new Listener(urcapServer(gripper, flags));
  const port = await listener.listen(host, portOption(given.values['port'], 63352));
  const endSteps = runSteps(STEP_S, () => gripper.step(STEP_S));
  const act: Record<string, () => void> = { ...actions(gripper, flags), cut: () => listener.cut() };
  onCommands((word) => act[word]?.(), stop);
  console.log(`sim robotiq-2f: ready on ${host}: port ${port}`);
  return () => {
    endSteps();
    listener.close();
  };
}

function actions(
  gripper: RobotiqGripper,
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
      gripper.faultCode = OVERCURRENT;
    },
    clear: () => {
      gripper.faultCode = 0;
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
