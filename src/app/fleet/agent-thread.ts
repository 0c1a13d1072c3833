import { deferred } from '../../core/deferred.ts';
import { WorkerHost } from '../worker-host.ts';
import type { AgentMessage, AgentRequest, AgentStart } from './agent-worker.ts';

type Ready = Extract<AgentMessage, { kind: 'ready' }>;

const CLOSE_MS = 4000;

/** A fleet agent in its own thread. */
export class AgentThread {
  readonly ready: Promise<Ready>;
  /** Resolves with the reason when the agent ended by itself. */
  readonly ended: Promise<string>;
  readonly #host: WorkerHost<AgentMessage>;
  #closing = false;

  /** `onRequested`: another operator requests the robot. */
  constructor(start: AgentStart, onRequested: (from: string) => void = () => {}) {
    const ended = deferred<string>();
    const end = (reason: string) => {
      if (!this.#closing) ended.resolve(reason);
    };
    this.#host = new WorkerHost(new URL('./agent-worker.js', import.meta.url), {
      name: 'the fleet agent',
      start,
      onMessage: (message) => {
        if (message.kind === 'ended') end(message.reason);
        else if (message.kind === 'requested') onRequested(message.from);
      },
      onGone: (error, code) =>
        end(code === null ? `the fleet agent failed: ${error}` : 'the fleet agent ended'),
    });
    this.ready = this.#host.ready;
    this.ended = ended.promise;
  }

  send(request: AgentRequest): void {
    this.#host.post(request);
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#host.close({ kind: 'close' } satisfies AgentRequest, CLOSE_MS);
  }
}
