import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { connectFleet } from '../../src/fleet/connection.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import { makeKey } from '../../src/fleet/leases/lease-keys.ts';
import { signalRobot } from '../../src/fleet/signalling.ts';
import { many, type OperatorsDone, operatorUser, robotName, type Share } from './shared.ts';

/** Operators, one per leased robot: each renews the lease every 2 s with a nonce that it asked the robot for. */
const { url, folder, first, robots } = workerData as Share;
const RENEW_MS = 2000;
const done: OperatorsDone = { renewMs: [], signalMs: [], lost: 0, leasesLost: 0, reasons: [] };
let isMeasured = false;
let isOver = false;

const failed = (error: unknown) => {
  if (!isMeasured) return;
  done.lost++;
  if (done.reasons.length < 5) done.reasons.push((error as Error).message);
};

const operators = await many(first, robots, async (n) => {
  const connection = await connectFleet(url, path.join(folder, `${operatorUser(n)}.creds`));
  const client = new LeaseClient(connection);
  const robot = robotName(n);
  return { connection, client, robot, token: (await client.take(robot, makeKey().publicKey)).token };
});

async function timed<T>(list: number[], asking: Promise<T>): Promise<T> {
  const startMs = performance.now();
  const answer = await asking;
  if (isMeasured) list.push(performance.now() - startMs);
  return answer;
}

async function keep({ connection, client, robot, token }: (typeof operators)[number], n: number) {
  await sleep((n / robots) * RENEW_MS);
  while (!isOver) {
    const startMs = performance.now();
    try {
      const greeting = await timed(done.signalMs, signalRobot(connection, robot, { kind: 'greet' }));
      const nonce = greeting.kind === 'greeting' ? greeting.nonce : '';
      if ((await timed(done.renewMs, client.renew(robot, token, nonce))) === null) done.leasesLost++;
    } catch (error) {
      failed(error);
    }
    await sleep(Math.max(0, startMs + RENEW_MS - performance.now()));
  }
}

const keeping = operators.map(keep);
parentPort!.postMessage('ready');
parentPort!.on('message', async (word: string) => {
  if (word === 'go') isMeasured = true;
  else if (word === 'stop') {
    isMeasured = false;
    parentPort!.postMessage(done);
  } else {
    isOver = true;
    await Promise.all(keeping);
    await Promise.all(operators.map(({ connection }) => connection.close()));
    process.exit(0);
  }
});
