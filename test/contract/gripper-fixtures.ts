import { rmSync } from 'node:fs';
import path from 'node:path';
import type { GripperDevice, GripperFixture } from '../../src/testing/gripper-contract.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type SimProcess, startSimProcess } from './sim-process.ts';

/** One entry for each connection that a gripper has. */
export interface NamedGripperFixture extends GripperFixture {
  /** Plug-in, then the connection. */
  readonly name: string;
  readonly plugin: string;
}

const TRICKS = ['hold', 'split', 'noise', 'silence', 'speak'] as const;
/** The arm's control box answers for the gripper: it cannot be silent by itself. */
const BEHIND_ARM = ['hold', 'split', 'noise'] as const;

const portIn = (ready: string, word = 'port'): number => Number(new RegExp(`${word} (\\d+)`).exec(ready)![1]);

const device = (sim: SimProcess, options: Record<string, unknown>, armHost = ''): GripperDevice => ({
  options,
  armHost,
  tell: (trick) => sim.child.send(trick),
  kill: () => sim.kill(),
  stop: () => sim.stop(),
});

async function onTerminal(
  args: readonly string[],
  options: Record<string, unknown> = {},
): Promise<GripperDevice> {
  const folder = temporaryFolder('gripper');
  const port = path.join(folder, 'tty');
  const sim = await startSimProcess([...args, '--serial', port]);
  return {
    ...device(sim, { ...options, port }),
    // The tty vanishes with its device; a dangling link could point to another test's terminal.
    kill: () => {
      sim.kill();
      rmSync(port, { force: true });
    },
    stop: async () => {
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const GRIPPERS: readonly NamedGripperFixture[] = [
  {
    name: 'robotiq-2f by the URCap’s socket',
    plugin: 'robotiq-2f',
    skip: false,
    tricks: TRICKS,
    async start() {
      const sim = await startSimProcess(['robotiq-2f', '--port', '0']);
      return device(sim, { socketPort: portIn(sim.ready) }, '127.0.0.1');
    },
  },
  {
    name: 'robotiq-2f by Modbus RTU',
    plugin: 'robotiq-2f',
    skip: needs('Linux'),
    tricks: TRICKS,
    start: () => onTerminal(['robotiq-2f']),
  },
  {
    name: 'xarm-gripper by the control box',
    plugin: 'xarm-gripper',
    skip: false,
    tricks: BEHIND_ARM,
    async start() {
      const sim = await startSimProcess(['xarm6', '--command', '0', '--report', '0', '--normal', '0']);
      return device(sim, { commandPort: portIn(sim.ready, 'command') }, '127.0.0.1');
    },
  },
  {
    name: 'xarm-gripper by RS485',
    plugin: 'xarm-gripper',
    skip: needs('Linux'),
    tricks: TRICKS,
    start: () => onTerminal(['xarm-gripper']),
  },
  {
    name: 'servo-gripper by UDP',
    plugin: 'servo-gripper',
    skip: false,
    tricks: TRICKS,
    async start() {
      const sim = await startSimProcess(['servo-gripper', '--port', '0']);
      return device(sim, { host: '127.0.0.1', port: portIn(sim.ready) });
    },
  },
];
