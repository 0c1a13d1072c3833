import { statSync } from 'node:fs';
import { hostname } from 'node:os';
import { packageVersion } from '../files/package-root.ts';
import { leftovers } from '../record/episodes.ts';
import { readStart } from '../record/reader.ts';
import type { RecoverWorkerMessage, RecoverWorkerStart } from './recover-worker.ts';
import { WorkerHost } from './worker-host.ts';

/** An unfinished file from another machine counts as abandoned after this long without a write. */
const ABANDONED_MS = 60_000;

async function abandonedIn(dir: string): Promise<string[]> {
  const found: string[] = [];
  for (const file of leftovers(dir)) if (await isAbandoned(file)) found.push(file);
  return found;
}

/** An unfinished recording that no running process writes. */
export async function isAbandoned(file: string): Promise<boolean> {
  const silentMs = Date.now() - statSync(file).mtimeMs;
  const { owner } = await readStart(file).catch(() => ({ owner: undefined }));
  const { pid, host } = (owner ?? {}) as { pid?: number; host?: string };
  if (host !== hostname() || pid === undefined) return silentMs > ABANDONED_MS;
  return pid !== process.pid && !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Recovers abandoned recordings in a separate thread. */
export async function recoverLeftovers(dir: string, say: (text: string) => void): Promise<void> {
  const files = await abandonedIn(dir);
  if (files.length === 0) return;
  const start: RecoverWorkerStart = { files, version: packageVersion() };
  new WorkerHost<RecoverWorkerMessage>(new URL('./recover-worker.js', import.meta.url), {
    name: 'the thread that recovers recordings',
    start,
    isIdle: true,
    onMessage: ({ text }) => say(text),
    onGone: (error, code) => {
      if (code === null) say(`could not recover an unfinished recording: ${error.message}`);
    },
  });
}
