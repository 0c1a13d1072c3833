import { type TransferListItem, Worker } from 'node:worker_threads';
import { deferred } from '../core/deferred.ts';
import { type ErrorCode, TeleopError } from '../core/errors.ts';

/** Sent by a thread that cannot start or continue, for a reason that a user can act on. */
export interface FailedMessage {
  kind: 'failed';
  code: ErrorCode;
  message: string;
  hint: string;
}

/**
 * Called on the thread: turns an error for the user into a message; rethrows a bug, which ends the thread.
 */
export function failedMessage(error: unknown): FailedMessage {
  if (!(error instanceof TeleopError)) throw error;
  return { kind: 'failed', code: error.code, message: error.message, hint: error.hint };
}

/** Long enough for a busy machine. */
export const READY_MS = 30_000;

/** A third of it is filled between collections: 1 MB takes V8 0.3 ms, its usual 8 MB took 2 to 5. */
const SHORT_COLLECTIONS = { maxYoungGenerationSizeMb: 3 };

type Ready<M> = Extract<M, { kind: 'ready' }>;

export interface WorkerOptions<M> {
  /** Name used in messages: `the link thread`. */
  name: string;
  /** The thread's `workerData`. */
  start: unknown;
  transfer?: TransferListItem[];
  /** Does not keep the process alive. */
  isIdle?: boolean;
  /** Commands pass through it: its garbage is collected often, a little at a time. */
  isOnPath?: boolean;
  /** How long the thread may take to be ready; no limit if absent. */
  readyMs?: number;
  /** Receives every message except `ready` and `failed`. */
  onMessage?: (message: Exclude<M, { kind: 'ready' | 'failed' }>) => void;
  /**
   * Called once if the thread fails after it was ready, throws or exits, unless `close` ended it. `code`:
   * only at an exit.
   */
  onGone?: (error: Error, code: number | null) => void;
}

/** A thread from start to end. Its messages have a kind; `ready`, `failed` and `closed` are handled here. */
export class WorkerHost<M extends { kind: string }> {
  /** Rejects when the thread fails, throws or exits first, or takes too long. */
  readonly ready: Promise<Ready<M>>;
  /** Resolves when the thread has ended, for any reason. */
  readonly exited: Promise<void>;
  readonly #worker: Worker;
  readonly #options: WorkerOptions<M>;
  readonly #ready = deferred<Ready<M>>();
  readonly #closed = deferred<void>();
  readonly #late: NodeJS.Timeout | undefined;
  #isReady = false;
  #isGone = false;

  constructor(file: URL, options: WorkerOptions<M>) {
    const { name, start, transfer = [], isIdle = false, isOnPath = false, readyMs } = options;
    this.#options = options;
    this.#worker = new Worker(file, {
      workerData: start,
      transferList: transfer,
      ...(isOnPath && { resourceLimits: SHORT_COLLECTIONS }),
    });
    if (isIdle) this.#worker.unref();
    this.ready = this.#ready.promise;
    this.ready.catch(() => {});
    this.exited = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.on('message', (message: M) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#onGone(error, null));
    this.#worker.on('exit', (code) => this.#onGone(new Error(`${name} ended with code ${code}`), code));
    if (readyMs !== undefined) this.#late = setTimeout(() => this.#giveUp(readyMs), readyMs);
  }

  post(message: unknown): void {
    this.#worker.postMessage(message);
  }

  /** Sends `order`, waits up to `withinMs` until the thread has closed or exited, and ends it. */
  async close(order: unknown, withinMs: number): Promise<void> {
    this.#isGone = true;
    this.post(order);
    const late = setTimeout(() => this.#closed.resolve(), withinMs);
    await this.#closed.promise;
    clearTimeout(late);
    await this.#worker.terminate();
  }

  #onMessage(message: M): void {
    if (message.kind === 'ready') {
      this.#isReady = true;
      clearTimeout(this.#late);
      this.#ready.resolve(message as Ready<M>);
    } else if (message.kind === 'failed') this.#onFailed(message as unknown as FailedMessage);
    else {
      this.#options.onMessage?.(message as never);
      if (message.kind === 'closed') this.#closed.resolve();
    }
  }

  #onFailed({ code, message, hint }: FailedMessage): void {
    const error = new TeleopError(code, message, { hint });
    clearTimeout(this.#late);
    if (this.#isReady) this.#onGone(error, null);
    else this.#ready.reject(error);
  }

  #onGone(error: Error, code: number | null): void {
    clearTimeout(this.#late);
    this.#ready.reject(error);
    if (code !== null) this.#closed.resolve();
    if (this.#isGone) return;
    this.#isGone = true;
    this.#options.onGone?.(error, code);
  }

  #giveUp(readyMs: number): void {
    const what = `${this.#options.name} was not ready within ${readyMs / 1000} s`;
    const hint = 'The machine may be overloaded: close other programs and try again.';
    this.#ready.reject(new TeleopError('child-failed', what, { hint }));
    void this.#worker.terminate();
  }
}
