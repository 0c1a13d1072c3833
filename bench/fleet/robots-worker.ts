import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import { RobotAgent } from '../../src/fleet/robot-agent.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { many, type RobotsDone, robotName, robotUser, type Share } from './shared.ts';

/** A share of the robots: the agent that runs beside every fleet robot, without a robot behind it. */
const { url, folder, first, robots } = workerData as Share;
const { config } = loadRig('demo', []);
const flags = new SharedArrayBuffer(256);
let ended = 0;

const agents = await many(first, robots, (n) =>
  RobotAgent.open(
    {
      ...{ url, credentials: path.join(folder, `${robotUser(n)}.creds`), name: robotName(n) },
      ...{ model: 'ur3', version: '0.0.0', joints: 6, ports: [1, 2, 3], key: new Uint8Array(32) },
      memory: { flags, board: new SharedArrayBuffer(4096) } as never,
      ...{ config: config.fleet, cameras: null, rig: config },
      pageOperatorEntry: fileURLToPath(import.meta.url),
      leaseFolder: path.join(folder, 'leases'),
    },
    () => {
      ended++;
    },
  ),
);
parentPort!.postMessage('ready');
const sent = () => agents.reduce((sum, agent) => sum + agent.sentMessages, 0);
let before = 0;
parentPort!.on('message', async (word: string) => {
  if (word === 'go') before = sent();
  else if (word === 'stop')
    parentPort!.postMessage({
      ...{ sent: sent() - before, ended, memoryMb: process.memoryUsage().rss / 2 ** 20 },
    } satisfies RobotsDone);
  else {
    await Promise.all(agents.map((agent) => agent.close()));
    process.exit(0);
  }
});
