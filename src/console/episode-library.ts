import { Worker } from 'node:worker_threads';
import type { EpisodeView } from '../messages/console.ts';
import type { EpisodeInfo } from '../messages/recording.ts';
import type { EpisodeAsk, EpisodeReply } from './episode-worker.ts';

/** Why an episode cannot be shown, in the words for people. */
export class EpisodeProblem extends Error {}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: EpisodeProblem): void;
}

/** Recordings, read on a thread of their own: a long file must not hold up an e-stop that passes through here. */
export class EpisodeLibrary {
  readonly #dir: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #asked = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  get dir(): string {
    return this.#dir;
  }

  list(): Promise<EpisodeInfo[]> {
    return this.#ask({ kind: 'list' }) as Promise<EpisodeInfo[]>;
  }

  view(id: string): Promise<EpisodeView> {
    return this.#ask({ kind: 'view', id }) as Promise<EpisodeView>;
  }

  /** The picture of a row, JPEG; null where it has none. */
  frame(id: string, camera: string, row: number): Promise<Uint8Array | null> {
    return this.#ask({ kind: 'frame', id, camera, row }) as Promise<Uint8Array | null>;
  }

  close(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }

  #ask(request: EpisodeAsk): Promise<unknown> {
    const ask = ++this.#asked;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ ask, request });
    return new Promise((resolve, reject) => this.#waiting.set(ask, { resolve, reject }));
  }

  /** A thread that fails is started anew at the next question. */
  #start(): Worker {
    const worker = new Worker(new URL('./episode-worker.js', import.meta.url), {
      workerData: { dir: this.#dir },
    });
    worker.unref();
    worker.on('message', (reply: EpisodeReply) => {
      const waiting = this.#waiting.get(reply.ask);
      this.#waiting.delete(reply.ask);
      if ('error' in reply) waiting?.reject(new EpisodeProblem(reply.error));
      else waiting?.resolve(reply.value);
    });
    const failed = (message: string) => {
      if (this.#worker === worker) this.#worker = null;
      for (const waiting of this.#waiting.values()) waiting.reject(new EpisodeProblem(message));
      this.#waiting.clear();
    };
    worker.on('error', (error) => failed(`the recording cannot be read: ${(error as Error).message}`));
    worker.on('exit', () => failed('the reader of recordings ended'));
    return worker;
  }
}
