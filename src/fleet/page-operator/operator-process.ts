import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Rig } from '../../rig/rig.ts';

/** A role on a busy machine has been seen to need some seconds. */
const READY_MS = 20_000;
const GRACE_MS = 4000;
/** Of its process and all threads it makes: where both want the processor, the robot gets three times as much. */
const NICE = 5;
/** What is said to a page. */
const MAX_REASON = 120;

/** To the process, once. The key goes this way alone: not by a file, not by an argument. */
export interface PageOperatorStart {
  rig: Rig;
  key: Uint8Array;
}

/** From it. */
export type PageOperatorMessage =
  | { kind: 'ready'; tracePath: string | null }
  | { kind: 'failed'; text: string };

export interface PageOperatorHandlers {
  /** Once. */
  ready(): void;
  /** Once, when it ended or failed without having been asked to. */
  ended(reason: string): void;
}

/** The operator role of a page's session: a process of its own, never the robot's. */
export class PageOperatorProcess {
  /** Processes of this robot that have not ended, those that were told to included. */
  static living = 0;
  isReady = false;
  readonly #child: ChildProcess;
  readonly #late: NodeJS.Timeout;
  readonly #handlers: PageOperatorHandlers;
  #ending = false;

  /** `entry`: the script of the process, which runs an operator role. */
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
    this.#late = setTimeout(() => this.#over('did not get ready'), READY_MS);
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
      if (error !== null) this.#over('was not reached');
    });
  }

  /** It has a moment to finish its trace. Whatever it sends meanwhile must reach nobody. */
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
    this.#handlers.ended(`the cockpit ${what}`.slice(0, MAX_REASON));
  }
}

/** Right after its start, so that its threads inherit it. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE);
  } catch {
    // It ended already, or this system does not let us.
  }
}
