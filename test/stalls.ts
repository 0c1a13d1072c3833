import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Wakes every 5 ms and keeps the longest time, in µs, that it was woken too late. */
const WATCHER = `
const { workerData, parentPort } = require('node:worker_threads');
const late = new Int32Array(workerData);
const never = new Int32Array(new SharedArrayBuffer(4));
parentPort.postMessage('ready');
for (;;) {
  const startMs = performance.now();
  Atomics.wait(never, 0, 0, 5);
  const us = Math.round(1000 * (performance.now() - startMs - 5));
  if (us > Atomics.load(late, 0)) Atomics.store(late, 0, us);
}`;

/**
 * How long this machine lets a thread wait that could run. A gap in a path of several threads is the product's
 * only as far as it exceeds what the machine kept each of them waiting.
 */
export class Stalls {
  readonly #late = new SharedArrayBuffer(4);
  readonly #worker = new Worker(WATCHER, { eval: true, workerData: this.#late });

  static async watch(): Promise<Stalls> {
    const stalls = new Stalls();
    await once(stalls.#worker, 'message');
    return stalls;
  }

  /** The longest since the last call. */
  takeMs(): number {
    return Atomics.exchange(new Int32Array(this.#late), 0, 0) / 1000;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
