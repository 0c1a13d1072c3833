import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/app/paths.ts';

export interface SimProcess {
  /** The line that told it was ready. */
  readonly ready: string;
  readonly child: ChildProcess;
  /** SIGKILL. */
  kill(): void;
  stop(): Promise<void>;
}

/** `farhand sim <args>` as a process of its own, resolved when it says that it is ready. */
export async function startSimProcess(args: readonly string[]): Promise<SimProcess> {
  const child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'farhand'), 'sim', ...args], {
    // With a channel it ends when this process does.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ready = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (/\bready\b/.test(line)) resolve(line);
    });
    child.once('exit', (code) => reject(new Error(`sim ${args.join(' ')} ended with ${code}`)));
  });
  return {
    ready,
    child,
    kill: () => child.kill('SIGKILL'),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}
