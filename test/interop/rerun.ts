import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { startRerunBridge } from '../../src/bridge/rerun-bridge.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { loadModel } from '../../src/rig/robot-models.ts';
import { freeTcpPort, freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { OperatorPeer } from '../e2e/operator-peer.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { pythonWith, runPython } from './python-venv.ts';

/** Streams an operator to the real Rerun viewer, which stores what it gets, and reads that back with its own tools. */
const found = await pythonWith('rerun', 'rerun-sdk');
if (!found.ok) {
  console.error(`skipped: ${found.why}`);
  process.exit(1);
}
const { python } = found;
const model = loadModel('ur3');
const dir = temporaryFolder('rerun');
const file = path.join(dir, 'live.rrd');
const port = await freeTcpPort('127.0.0.1', 9876);
const viewer = spawn(python, ['-m', 'rerun', '--save', file, '--port', String(port)], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
let said = '';
viewer.stderr.on('data', (data: Buffer) => {
  said += data.toString();
});
const [deskPort = 0, telemetryPort = 0] = await freeUdpPorts(2);
const peer = new OperatorPeer({ deskPort, telemetryPort }, model);
try {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const { config } = loadRig('demo', [`console.telemetryPort=${telemetryPort}`]);
  const connect = `rerun+http://127.0.0.1:${port}/proxy`;
  const bridge = await startRerunBridge(config, { python, connect, save: null });
  await Promise.race([new Promise((resolve) => setTimeout(resolve, 3000)), bridge.failed]);
  const { lines, skipped } = bridge.counts();
  await bridge.close();
  viewer.kill('SIGINT');
  await once(viewer, 'close');
  const printed = await runPython(python, ['-m', 'rerun', 'rrd', 'print', file], 30_000);
  assert.equal(printed.code, 0, `${printed.stderr}\n${said}`);
  for (const entity of [
    'farhand/joint_states/',
    'farhand/latency/one_way_ms',
    'farhand/robot',
    'farhand/status',
  ])
    assert.ok(
      printed.stdout.includes(entity),
      `${entity} is missing:\n${printed.stdout.slice(0, 2000)}\n${said}`,
    );
  console.log(`Rerun stored ${lines} lines (${skipped} skipped): joints, latency, links, status`);
} finally {
  viewer.kill('SIGKILL');
  peer.close();
  rmSync(dir, { recursive: true, force: true });
}
