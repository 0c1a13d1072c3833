import { Worker } from 'node:worker_threads';
import type { EpisodeEdit, EpisodeList, EpisodeView } from '../messages/console.ts';
import type { EpisodeReply, EpisodeRequest } from './episode-worker.ts';

/** Why an episode cannot be shown, for people to read. */
export class EpisodeProblem extends Error {}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: EpisodeProblem): void;
}

/**
 * Reads recordings on a separate thread: a long file must not delay an e-stop that passes through this
 * process.
 */
export class EpisodeLibrary {
  readonly #dir: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  get dir(): string {
    return this.#dir;
  }

  list(): Promise<Omit<EpisodeList, 'dir'>> {
    return this.#request({ kind: 'list' }) as Promise<Omit<EpisodeList, 'dir'>>;
  }

  view(id: string): Promise<EpisodeView> {
    return this.#request({ kind: 'view', id }) as Promise<EpisodeView>;
  }

  /** The JPEG picture of a row; null if it has none. */
  frame(id: string, camera: string, row: number): Promise<Uint8Array | null> {
    return this.#request({ kind: 'frame', id, camera, row }) as Promise<Uint8Array | null>;
  }

  /** Deletes, trims or restores an episode; the new list. */
  edit(edit: EpisodeEdit): Promise<Omit<EpisodeList, 'dir'>> {
    return this.#request({ kind: 'edit', edit }) as Promise<Omit<EpisodeList, 'dir'>>;
  }

  /** Beside the recording, which is not modified. */
  async label(id: string, label: string): Promise<void> {
    await this.#request({ kind: 'label', id, label });
  }

  close(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }

  #request(request: EpisodeRequest): Promise<unknown> {
    const id = ++this.#lastId;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ id, request });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** A failed thread is restarted by the next request. */
  #start(): Worker {
    const worker = new Worker(new URL('./episode-worker.js', import.meta.url), {
      workerData: { dir: this.#dir },
    });
    worker.unref();
    worker.on('message', (reply: EpisodeReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ('error' in reply) waiting?.reject(new EpisodeProblem(reply.error));
      else waiting?.resolve(reply.value);
    });
    const failed = (message: string) => {
      if (this.#worker === worker) this.#worker = null;
      for (const waiting of this.#waiting.values()) waiting.reject(new EpisodeProblem(message));
      this.#waiting.clear();
    };
    worker.on('error', (error) => failed(`the recording cannot be read: ${(error as Error).message}`));
    worker.on('exit', () => failed('the thread that reads recordings exited'));
    return worker;
  }
}
