import { parentPort, workerData } from 'node:worker_threads';
import { startServices } from '../../src/fleet/store/services.ts';

/** The fleet's services, as `farhand fleet serve` runs them. */
const services = await startServices(workerData as Parameters<typeof startServices>[0]);
parentPort!.postMessage('ready');
parentPort!.on('message', async (word: string) => {
  if (word === 'stop') parentPort!.postMessage(services.leases.counts);
  else if (word === 'end') {
    await services.close();
    process.exit(0);
  }
});
