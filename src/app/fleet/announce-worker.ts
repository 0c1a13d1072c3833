import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { connectFleet, type FleetConnection, robotsIn } from '../../fleet/connection.ts';
import { Announcer, type Store } from '../../fleet/recordings/announcer.ts';
import { FleetTarget } from '../../fleet/recordings/fleet-target.ts';
import { RecordingIndex } from '../../fleet/recordings/recording-index.ts';
import { lowerPriority } from '../../native/thread-priority.ts';

export interface AnnounceStart {
  url: string;
  credentials: string;
  plainBeyondLoopback: boolean;
  /** Empty: the only robot in the credentials. */
  robot: string;
  dir: string;
  push: boolean;
  deleteAfter: boolean;
  bytesPerS: number;
}

/** From the thread. */
export type AnnounceMessage = { kind: 'said'; text: string } | { kind: 'closed' };

/**
 * The thread that announces recordings to a fleet. It opens its own connection, only while there is something
 * to announce, so that megabytes of pictures never delay the renewal of a lease.
 */
const start = workerData as AnnounceStart;
const LOOK_MS = 1000;
const RETRY_MS = 2000;
const port = parentPort!;
const ended = new AbortController();
/** Interrupts an upload; the next session resumes it. */
const over = new Error('the session ended');
let trouble = '';

const post = (message: AnnounceMessage) => port.postMessage(message);
const say = (text: string) => post({ kind: 'said', text: `recording ${text}` });

/** True: everything found was announced. */
async function look(announcer: Announcer, robot: string): Promise<boolean> {
  let connection: FleetConnection | null = null;
  let store: Store | null = null;
  const open = async (): Promise<Store> => {
    connection ??= await connectFleet(start.url, start.credentials, start);
    store ??= {
      index: new RecordingIndex(connection, robot),
      target: start.push && !ended.signal.aborted ? new FleetTarget(connection, robot) : null,
    };
    return store;
  };
  try {
    await announcer.look(open);
    trouble = '';
    return true;
  } catch (error) {
    if (error === over) return false;
    const text = (error as Error).message;
    if (text !== trouble)
      post({ kind: 'said', text: `a recording is not announced yet: ${text}. Retrying.` });
    trouble = text;
    return false;
  } finally {
    await (connection as FleetConnection | null)?.close();
  }
}

async function main(): Promise<void> {
  lowerPriority();
  const { dir, deleteAfter, bytesPerS } = start;
  const robot = start.robot || ((await robotsIn(start.credentials))[0] ?? '');
  const pace = async (bytes: number) => {
    await sleep((bytes / bytesPerS) * 1000);
    if (ended.signal.aborted) throw over;
  };
  const now = () => new Date().toISOString();
  const announcer = new Announcer({ robot, dir, deleteAfter, now, say, pace });
  while (!ended.signal.aborted) {
    const isDone = await look(announcer, robot);
    await sleep(isDone ? LOOK_MS : RETRY_MS, undefined, { signal: ended.signal }).catch(() => {});
  }
  // The last episode is saved when the role ends. It is announced; the next session stores it.
  await look(announcer, robot);
}

port.on('message', () => ended.abort());
await main().finally(() => {
  post({ kind: 'closed' });
  port.close();
});
