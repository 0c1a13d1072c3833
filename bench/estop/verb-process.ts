import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { packageRoot } from '../../src/files/package-root.ts';

const GRACE_MS = 10_000;

export interface Said {
  /** Monotonic clock of this machine, as it was read here. */
  atNs: number;
  text: string;
}

export interface HowToRun {
  /** Words of a program that becomes the verb, before it: `prlimit --nofile=40`. */
  within?: readonly string[];
  env?: Record<string, string>;
}

/** A verb as a process of its own, read line by line. */
export class VerbProcess {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  /** Lines on both outputs, in the order they came. */
  readonly said: Said[] = [];
  readonly exited: Promise<number | null>;
  /** When it ended; infinite while it has not. */
  exitedNs = Number.POSITIVE_INFINITY;
  #errors = '';
  readonly #args: readonly string[];

  /** `onLine` is called as a line comes. */
  constructor(
    args: readonly string[],
    onLine: (line: string) => void = () => {},
    { within = [], env = {} }: HowToRun = {},
  ) {
    this.#args = args;
    const bin = path.join(packageRoot, 'bin', 'farhand');
    const [program, ...words] = [...within, process.execPath, bin, ...args];
    // With a channel it ends when this process does, and a simulator takes words over it.
    this.child = spawn(program!, words, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, ...env },
    });
    this.child.on('error', () => {});
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.lines.push(line);
      this.#note(line);
      onLine(line);
    });
    createInterface({ input: this.child.stderr! }).on('line', (line) => this.#note(line));
    this.child.stderr!.on('data', (data: Buffer) => {
      this.#errors = (this.#errors + data.toString()).slice(-4000);
    });
    this.child.once('exit', () => {
      this.exitedNs = monotonicClock.nowNs();
    });
    this.exited = new Promise((resolve) => this.child.once('close', (code) => resolve(code)));
  }

  get verb(): string {
    return this.#args[0]!;
  }

  #note(text: string): void {
    this.said.push({ atNs: monotonicClock.nowNs(), text });
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async waitFor(pattern: RegExp, timeoutMs = 30_000, signal?: AbortSignal): Promise<string> {
    const untilMs = performance.now() + timeoutMs;
    while (performance.now() < untilMs && !this.hasEnded) {
      signal?.throwIfAborted();
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
    // One that is suspended gets the signal when it goes on.
    this.child.kill('SIGCONT');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }
}
