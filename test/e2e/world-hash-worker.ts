import { parentPort, workerData } from 'node:worker_threads';
import { stateHash } from './world-hash.ts';

/** Posts the state that a seed ends in, computed on this thread. */
parentPort?.postMessage(await stateHash(workerData as { task: string; seed: number }));
