import path from 'node:path';
import { VerbProcess } from './verb-process.ts';

export type SimulatedArm = 'piper' | 'ur3' | 'xarm6' | 'openarm' | 'orca';

export interface ArmSim {
  process: VerbProcess;
  /** Settings with which the robot's driver connects to it; resolves when it is ready. */
  settings(timeoutMs?: number, signal?: AbortSignal): Promise<string[]>;
}

interface Kind {
  args(folder: string): string[];
  settings(folder: string, ready: string): string[];
}

const serial = (name: string, more: string[], settings: string[]): Kind => ({
  args: (folder) => ['sim', name, '--slcan', path.join(folder, 'slcan'), ...more, '--json'],
  settings: (folder) => [`robot.options.bus=slcan:${path.join(folder, 'slcan')}`, ...settings],
});

/** Ports from the ready line, and the matching settings of the driver. */
const tcp = (name: string, ports: Record<string, string>, options: string[], settings: string[]): Kind => ({
  args: () => ['sim', name, ...options.flatMap((port) => [port, '0']), '--json'],
  settings: (_, ready) => [
    'robot.options.host=127.0.0.1',
    ...Object.entries(ports).map(
      ([word, key]) => `robot.options.${key}Port=${new RegExp(`${word} (\\d+)`).exec(ready)?.[1]}`,
    ),
    ...settings,
  ],
});

const UR_PORTS = { rtde: 'rtde', dashboard: 'dashboard', script: 'script' };

const KINDS: Record<SimulatedArm, Kind> = {
  // Starts at the model's home: in the folded park pose it could not move.
  piper: serial('piper', ['--start', '0,69,-63,0,23,0'], ['robot.options.feedbackTimeoutMs=1000']),
  ur3: tcp('ur', UR_PORTS, ['--rtde', '--dashboard', '--script'], ['robot.options.reversePort=0']),
  xarm6: tcp('xarm6', { command: 'command', report: 'report' }, ['--command', '--report', '--normal'], []),
  openarm: serial('openarm', [], ['robot.options.feedbackTimeoutMs=1000']),
  orca: {
    args: (folder) => [
      ...['sim', 'orca', '--hand', 'v1-right', '--port', path.join(folder, 'tty')],
      ...['--calibration', path.join(folder, 'orca.json')],
    ],
    settings: (folder) => [
      `robot.options.port=${path.join(folder, 'tty')}`,
      `robot.options.calibrationFile=${path.join(folder, 'orca.json')}`,
      'robot.options.feedbackTimeoutMs=1000',
    ],
  },
};

/** Starts a simulated arm as a separate process; its links and files are in `folder`. */
export function startArmSim(name: SimulatedArm, folder: string, onLine: (line: string) => void): ArmSim {
  const kind = KINDS[name];
  const process = new VerbProcess(kind.args(folder), onLine);
  return {
    process,
    settings: async (timeoutMs, signal) =>
      kind.settings(folder, await process.waitFor(/ready/, timeoutMs, signal)),
  };
}
