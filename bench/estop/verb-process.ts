import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { packageRoot } from '../../src/files/package-root.ts';

const GRACE_MS = 10_000;

export interface Said {
  /** When the line was read, monotonic clock of this machine. */
  atNs: number;
  text: string;
}

export interface HowToRun {
  /** Command prefix that runs the verb: `prlimit --nofile=40`. */
  within?: readonly string[];
  env?: Record<string, string>;
}

/** A verb as a separate process, read line by line. */
export class VerbProcess {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  /** Lines of both outputs, in order of arrival. */
  readonly said: Said[] = [];
  readonly exited: Promise<number | null>;
  /** When it ended; infinite while it runs. */
  exitedNs = Number.POSITIVE_INFINITY;
  #errors = '';
  readonly #args: readonly string[];

  /** `onLine` is called for each line. */
  constructor(
    args: readonly string[],
    onLine: (line: string) => void = () => {},
    { within = [], env = {} }: HowToRun = {},
  ) {
    this.#args = args;
    const bin = path.join(packageRoot, 'bin', 'farhand');
    const [program, ...words] = [...within, process.execPath, bin, ...args];
    // The channel ends it together with this process, and carries the commands of a simulator.
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

  /** Exit code; null if a signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    // A suspended process receives the signal once it is continued.
    this.child.kill('SIGCONT');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }
}
