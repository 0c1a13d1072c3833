import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Rig } from '../../rig/rig.ts';

/** On a busy machine a role has taken 25 s to start; starting it over would take longer. */
const READY_MS = 60_000;
const GRACE_MS = 4000;
/** For its process and all its threads: when both compete for the CPU, the robot gets three times as much. */
const NICE = 5;
/** Longest reason sent to a page. */
const MAX_REASON = 120;

/** Sent to the process once. The key is passed only here, never in a file or an argument. */
export interface PageOperatorStart {
  rig: Rig;
  key: Uint8Array;
}

/** From the process. */
export type PageOperatorMessage =
  | { kind: 'ready'; tracePath: string | null }
  | { kind: 'failed'; text: string };

export interface PageOperatorHandlers {
  /** Called once. */
  ready(): void;
  /** Called once, when it exited or failed without `end`. */
  ended(reason: string): void;
}

/** The operator role of a page's session: its own process, never the robot's. */
export class PageOperatorProcess {
  /** Processes of this robot that are still running, including those that are ending. */
  static living = 0;
  isReady = false;
  readonly #child: ChildProcess;
  readonly #late: NodeJS.Timeout;
  readonly #handlers: PageOperatorHandlers;
  #ending = false;

  /** `entry`: the script that runs the operator role. */
  constructor(entry: string, start: PageOperatorStart, handlers: PageOperatorHandlers) {
    const child = fork(entry, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#child = child;
    this.#handlers = handlers;
    if (child.pid !== undefined) {
      PageOperatorProcess.living++;
      child.once('exit', () => PageOperatorProcess.living--);
    }
    lowerPriority(child);
    this.#late = setTimeout(() => this.#over('did not start in time'), READY_MS);
    child.on('message', (message: PageOperatorMessage) => {
      if (this.#ending) return;
      if (message.kind === 'failed') return this.#over(`failed: ${message.text}`);
      clearTimeout(this.#late);
      this.isReady = true;
      handlers.ready();
    });
    child.on('error', (error) => this.#over(`failed: ${error.message}`));
    child.on('exit', (code, signal) => this.#over(`ended (${signal ?? code})`));
    child.send(start, (error) => {
      if (error !== null) this.#over('could not be reached');
    });
  }

  /** It has a few seconds to finish its trace. The caller must block anything it still sends. */
  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    clearTimeout(this.#late);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), GRACE_MS);
    timer.unref();
    this.#child.once('exit', () => clearTimeout(timer));
  }

  #over(what: string): void {
    if (this.#ending) return;
    this.end();
    this.#handlers.ended(`the page operator ${what}`.slice(0, MAX_REASON));
  }
}

/** Right after its start, so that its threads inherit it. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE);
  } catch {
    // It has already exited, or the system does not allow it.
  }
}
