import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/files/package-root.ts';

export interface SimProcess {
  /** The line that told it was ready. */
  readonly ready: string;
  readonly child: ChildProcess;
  /** Writes a command to its standard input. */
  tell(command: string): void;
  /** SIGKILL. */
  kill(): void;
  stop(): Promise<void>;
}

const READY_MS = 30_000;

/** `farhand sim <args>` as a process of its own, resolved when it says that it is ready. */
export async function startSimProcess(args: readonly string[]): Promise<SimProcess> {
  const child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'farhand'), 'sim', ...args], {
    // With a channel it ends when this process does.
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  // It may have been killed.
  child.stdin!.on('error', () => {});
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const output: string[] = [];
  const timer = setTimeout(() => child.kill('SIGKILL'), READY_MS);
  const ready = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      output.push(line);
      if (/\bready\b/.test(line)) resolve(line);
    });
    child.once('close', (code) =>
      reject(new Error(`sim ${args.join(' ')} ended with ${code}:\n${output.slice(-20).join('\n')}`)),
    );
  }).finally(() => clearTimeout(timer));
  return {
    ready,
    child,
    tell: (command) => child.stdin!.write(`${command}\n`),
    kill: () => child.kill('SIGKILL'),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
    },
  };
}
