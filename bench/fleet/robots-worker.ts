import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import {
  connectMany,
  type Load,
  POLL_MS,
  PRESENCE_HZ,
  type RobotsDone,
  robotName,
  TELEMETRY_BYTES,
  TELEMETRY_HZ,
} from './shared.ts';

/** A share of the robots. Each has its own connection, sends presence and telemetry, answers requests, and checks its lease if it has one. */
const load = workerData as Load;
const nameOf = (n: number): string => robotName(load.first + n);
const connections = await connectMany(load.url, load.robotCreds, load.robots);
const presence = JSON.stringify({
  model: 'ur3e',
  state: 'engaged',
  version: '0.0.0',
  link: { rttMs: 12, loss: 0 },
});
const telemetry = 'x'.repeat(TELEMETRY_BYTES);
connections.forEach(({ nats }, n) => {
  nats.subscribe(subjects.signal(nameOf(n), '*'), {
    callback: (_, message) => void message.respond(message.data),
  });
});
await Promise.all(connections.map(({ nats }) => nats.flush()));
const done: RobotsDone = { published: 0, polls: 0, pollMs: [] };
parentPort!.postMessage('ready');
await new Promise((resolve) => parentPort!.once('message', resolve));

const SLOTS = 5;
const slotMs = 1000 / TELEMETRY_HZ / SLOTS;
const startedMs = performance.now();
const polls = connections.slice(0, Math.max(0, load.leases - load.first)).map(async ({ nats }, n) => {
  const store = await LeaseStore.open(nats);
  while (performance.now() - startedMs < load.seconds * 1000) {
    const askedMs = performance.now();
    await store.get(nameOf(n)).then(
      () => done.pollMs.push(performance.now() - askedMs),
      () => {},
    );
    done.polls++;
    await sleep(POLL_MS);
  }
});
const turns = load.seconds * TELEMETRY_HZ * SLOTS;
for (let turn = 0; turn < turns; turn++) {
  const waitMs = startedMs + turn * slotMs - performance.now();
  if (waitMs > 0) await sleep(waitMs);
  for (let n = turn % SLOTS; n < connections.length; n += SLOTS) {
    const { nats } = connections[n]!;
    nats.publish(subjects.telemetry(nameOf(n)), telemetry);
    const perPresence = (TELEMETRY_HZ / PRESENCE_HZ) * SLOTS;
    if ((turn + n * SLOTS) % perPresence < SLOTS) nats.publish(subjects.presence(nameOf(n)), presence);
    done.published++;
  }
}
await Promise.all(polls);
// Receivers count until now.
await sleep(300);
parentPort!.postMessage(done);
await new Promise((resolve) => parentPort!.once('message', resolve));
await Promise.all(connections.map((connection) => connection.close()));
