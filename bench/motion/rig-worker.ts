import { parentPort, workerData } from 'node:worker_threads';
import { type RigWork, runRig } from './run-rig.ts';

parentPort!.postMessage(await runRig(workerData as RigWork));
