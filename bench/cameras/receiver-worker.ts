import { parentPort, workerData } from 'node:worker_threads';
import { giveWay } from '../../src/app/camera/priority.ts';
import { CameraWatch } from '../../src/app/camera/watch.ts';
import type { FrameReceiverConfig } from '../../src/camera/receiver.ts';

/** The operator's side of the cameras, on a thread of its own as in a recorder. Any message ends it. */
giveWay();
const { receiver, staleAfterMs } = workerData as { receiver: FrameReceiverConfig; staleAfterMs: number };
const watch = await CameraWatch.open(receiver, { staleAfterMs });
parentPort?.once('message', () => {
  parentPort?.postMessage(watch.seen());
  watch.close();
});
