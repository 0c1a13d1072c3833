import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import {
  connectMany,
  type Load,
  type OperatorsDone,
  RENEW_MS,
  robotName,
  SIGNAL_BYTES,
  SIGNAL_MS,
} from './shared.ts';

/**
 * Every operator holds the lease of a robot, receives its telemetry and signals it; one console receives all
 * presence.
 */
const load = workerData as Load;
const operators = await connectMany(load.url, load.operatorCreds, load.leases);
const [console1] = await connectMany(load.url, load.operatorCreds, 1);
const done: OperatorsDone = {
  ...{ renewMs: [], signalMs: [], leasesLost: 0, signalsLost: 0, telemetryReceived: 0, presenceReceived: 0 },
};
console1!.nats.subscribe(subjects.presence('*'), { callback: () => void done.presenceReceived++ });
const held = await Promise.all(
  operators.map(async ({ nats, user }, n) => {
    nats.subscribe(subjects.telemetry(robotName(n)), { callback: () => void done.telemetryReceived++ });
    const store = await LeaseStore.open(nats);
    return { nats, user, store, robot: robotName(n) };
  }),
);
await console1!.nats.flush();
parentPort!.postMessage('ready');
await new Promise((resolve) => parentPort!.once('message', resolve));

const startedMs = performance.now();
const goesOn = () => performance.now() - startedMs < load.seconds * 1000;

async function keep({ store, robot }: (typeof held)[number], n: number): Promise<void> {
  await sleep((n / load.leases) * RENEW_MS);
  let revision = await store.create(robot, `holder-${n}`);
  if (revision === null) done.leasesLost++;
  while (goesOn() && revision !== null) {
    await sleep(RENEW_MS);
    const askedMs = performance.now();
    const next: number | null | 'silent' = await store
      .renew(robot, `holder-${n}`, revision)
      .catch(() => 'silent');
    if (next === 'silent') continue;
    done.renewMs.push(performance.now() - askedMs);
    if (next === null) done.leasesLost++;
    revision = next;
  }
}

async function signal({ nats, user, robot }: (typeof held)[number], n: number): Promise<void> {
  await sleep((n / load.leases) * SIGNAL_MS);
  const offer = 'o'.repeat(SIGNAL_BYTES);
  while (goesOn()) {
    const askedMs = performance.now();
    await nats.request(subjects.signal(robot, user), offer, { timeout: 2000 }).then(
      () => done.signalMs.push(performance.now() - askedMs),
      () => {
        done.signalsLost++;
      },
    );
    await sleep(SIGNAL_MS);
  }
}

await Promise.all(held.flatMap((each, n) => [keep(each, n), signal(each, n)]));
parentPort!.postMessage(done);
await new Promise((resolve) => parentPort!.once('message', resolve));
await Promise.all([...operators, console1!].map((connection) => connection.close()));
