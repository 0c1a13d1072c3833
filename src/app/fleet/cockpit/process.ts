import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { deferred } from '../../deferred.ts';
import type { CockpitMessage, CockpitStart } from './entry.ts';

/** A role on a busy machine has been seen to need some seconds. */
const READY_MS = 20_000;
const GRACE_MS = 4000;

/** The operator role of a page's session: a process of its own, never the robot's. */
export class CockpitProcess {
  /** Rejects when it does not get ready. */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #late: NodeJS.Timeout;
  #ending = false;

  /** `onEnded` is called once, when it ended without having been asked to. */
  constructor(start: CockpitStart, onEnded: (reason: string) => void) {
    const ready = deferred<void>();
    const child = fork(fileURLToPath(new URL('./entry.js', import.meta.url)), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.#child = child;
    this.ready = ready.promise;
    this.#late = setTimeout(() => over('did not get ready'), READY_MS);
    const over = (what: string) => {
      clearTimeout(this.#late);
      ready.reject(new Error(what));
      if (!this.#ending) onEnded(`the cockpit ${what}`);
      this.end();
    };
    ready.promise.catch(() => {});
    child.on('message', (message: CockpitMessage) => {
      if (message.kind === 'failed') return over(`failed: ${message.text}`.slice(0, 100));
      clearTimeout(this.#late);
      ready.resolve();
    });
    child.on('error', (error) => over(`failed: ${error.message}`.slice(0, 100)));
    child.on('exit', (code, signal) => over(`ended (${signal ?? code})`));
    child.send(start, (error) => {
      if (error !== null) over('was not reached');
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
}
