import { Worker } from 'node:worker_threads';
import { deferred } from '../../core/deferred.ts';
import { type ErrorCode, TeleopError } from '../../core/errors.ts';
import type { AgentMessage, AgentRequest, AgentStart } from './agent-worker.ts';

type Ready = Extract<AgentMessage, { kind: 'robot-ready' | 'operator-ready' }>;

const CLOSE_MS = 4000;

/** A fleet's agent on a thread of its own. */
export class AgentThread {
  readonly ready: Promise<Ready>;
  /** Resolves with the reason when the agent ended by itself. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  readonly #closed: Promise<unknown>;
  #closing = false;

  constructor(start: AgentStart) {
    const ready = deferred<Ready>();
    const ended = deferred<string>();
    const closed = deferred<void>();
    this.#worker = new Worker(new URL('./agent-worker.js', import.meta.url), { workerData: start });
    const end = (reason: string) => {
      if (!this.#closing) ended.resolve(reason);
    };
    this.#worker.on('message', (message: AgentMessage) => {
      if (message.kind === 'robot-ready' || message.kind === 'operator-ready') ready.resolve(message);
      else if (message.kind === 'ended') end(message.reason);
      else if (message.kind === 'failed')
        ready.reject(new TeleopError(message.code as ErrorCode, message.message, { hint: message.hint }));
      else closed.resolve();
    });
    const over = (what: string) => {
      ready.reject(new Error(what));
      end(what);
      closed.resolve();
    };
    this.#worker.on('error', (error) => over(`the fleet’s agent failed: ${error}`));
    this.#worker.on('exit', () => over('the fleet’s agent ended'));
    ready.promise.catch(() => {});
    this.ready = ready.promise;
    this.ended = ended.promise;
    this.#closed = closed.promise;
  }

  send(request: AgentRequest): void {
    this.#worker.postMessage(request);
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.send({ kind: 'close' });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#closed, late]);
    clearTimeout(timer);
    await this.#worker.terminate();
  }
}
