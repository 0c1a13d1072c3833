import { Worker } from 'node:worker_threads';
import type { AnnounceMessage, AnnounceStart } from './announce-worker.ts';
import type { Companion, FleetAccess } from './companion.ts';

/** How long the last episode may take to be announced; the next session does what was not. */
const CLOSE_MS = 5000;

/** What is recorded beside a role of a fleet is told to the fleet, and stored there where that is wanted. */
export function announced(companion: Companion, access: FleetAccess, robot: string): Companion {
  const { fleet, record } = companion.rig;
  if (fleet.recordings === 'off') return companion;
  const start: AnnounceStart = {
    ...access,
    plainBeyondLoopback: fleet.plainBeyondLoopback,
    ...{ robot, dir: record.dir, push: fleet.recordings === 'push', deleteAfter: fleet.deleteAfterPush },
    bytesPerS: (fleet.pushMbitS * 1e6) / 8,
  };
  let thread: AnnounceThread | null = null;
  return {
    ...companion,
    rig: { ...companion.rig, fleet: { ...fleet, robot: robot || fleet.robot } },
    async started(handle, info) {
      const text = await companion.started(handle, info);
      thread = new AnnounceThread(start);
      return text;
    },
    async close() {
      await Promise.all([thread?.close(), companion.close()]);
    },
  };
}

class AnnounceThread {
  readonly #worker: Worker;
  readonly #closed: Promise<void>;

  constructor(start: AnnounceStart) {
    this.#worker = new Worker(new URL('./announce-worker.js', import.meta.url), { workerData: start });
    this.#worker.on('message', (message: AnnounceMessage) => {
      if (message.kind === 'said') console.error(`farhand: ${message.text}`);
    });
    // It ends no session: what is not announced now is announced later.
    this.#worker.on('error', (error) =>
      console.error(`farhand: recordings are not announced: ${error.message}`),
    );
    this.#closed = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
  }

  async close(): Promise<void> {
    this.#worker.postMessage('close');
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await this.#closed;
    clearTimeout(timer);
  }
}
