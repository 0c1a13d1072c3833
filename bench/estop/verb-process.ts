import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../../src/app/paths.ts';

const GRACE_MS = 10_000;

/** A verb as a process of its own, read line by line. */
export class VerbProcess {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  readonly exited: Promise<number | null>;
  #errors = '';
  readonly #args: readonly string[];

  /** `onLine` is called as a line comes. */
  constructor(args: readonly string[], onLine: (line: string) => void = () => {}) {
    this.#args = args;
    // With a channel it ends when this process does, and a simulator takes words over it.
    this.child = spawn(process.execPath, [path.join(packageRoot, 'bin', 'farhand'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.lines.push(line);
      onLine(line);
    });
    this.child.stderr!.on('data', (data: Buffer) => {
      this.#errors = (this.#errors + data.toString()).slice(-4000);
    });
    this.exited = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  async waitFor(pattern: RegExp, timeoutMs = 30_000): Promise<string> {
    const untilMs = performance.now() + timeoutMs;
    while (performance.now() < untilMs && this.child.exitCode === null) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      await sleep(10);
    }
    throw new Error(
      `${pattern} not seen from \`farhand ${this.#args.join(' ')}\`:\n${this.lines.slice(-20).join('\n')}\n${this.#errors}`,
    );
  }

  /** Exit code; null when a signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    const timer = setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }
}
