import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { createKey, writeKeyFile } from '../../src/wire/secure/key-file.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';

interface Report {
  kind: string;
  counters: Record<string, number>;
}

/** A separate process for each role, with shared or different keys; they end with the test. */
async function machines(context: TestContext) {
  const running: Running[] = [];
  const start = (args: string[]): Running => {
    const child = startFarhand(args);
    running.push(child);
    return child;
  };
  context.after(() => Promise.all(running.map((child) => child.end())));
  const folder = temporaryFolder();
  const [command, state, sync] = await freeUdpPorts(3);
  const link = [`link.commandPort=${command}`, `link.statePort=${state}`, `link.syncPort=${sync}`];
  const keyFile = (name: string): string => {
    const file = path.join(folder, `${name}.key`);
    writeKeyFile(file, { name, key: createKey(), createdAt: '2026-01-01T00:00:00Z' });
    return file;
  };
  const robot = (key: string, ...more: string[]) =>
    start(['robot', '--json', ...link, `link.keyFile=${key}`, ...more]);
  const operator = async (key: string, ...more: string[]) => {
    const [desk, telemetry] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`, `trace.dir=${folder}`];
    const child = start(['operator', '--json', ...link, `link.keyFile=${key}`, ...ports, ...more]);
    return { ...child, deskPort: desk! };
  };
  return { keyFile, robot, operator };
}

async function request(deskPort: number, kind: string): Promise<void> {
  const out = new Uint8Array(128);
  const length = writeFrame('request', { kind }, out);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.send(out, 0, length, deskPort, '127.0.0.1', () => resolve()));
  socket.close();
}

function reportOf(child: Running): Report {
  const lines = child.stdout().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Report).find((line) => line.kind === 'report')!;
}

describe('the robot can be driven by', { concurrency: 2 }, () => {
  it('no unpaired operator: it is never even answered', async (context) => {
    const { keyFile, robot, operator } = await machines(context);
    const r = robot(keyFile('robot'));
    await r.waitFor(/"ready"/);
    const stranger = await operator(keyFile('stranger'));
    await stranger.waitFor(/"ready"/);
    await sleep(1500);
    await stranger.end();
    await r.end();
    assert.doesNotMatch(r.stdout(), /"to":"idle"/);
    assert.ok(reportOf(r).counters['unknown-key']! >= 4, JSON.stringify(reportOf(r).counters));
    assert.deepEqual(reportOf(stranger).counters, {});
  });

  it('one operator at a time; the next one when the first has left', async (context) => {
    const { keyFile, robot, operator } = await machines(context);
    const key = keyFile('pair');
    const r = robot(key);
    await r.waitFor(/"ready"/);
    const first = await operator(key);
    await r.waitFor(/"to":"engaged"/);
    const second = await operator(key);
    await second.waitFor(/"ready"/);
    await sleep(1200);
    // Whoever gets control makes the robot idle first.
    assert.equal(r.stdout().match(/"to":"idle"/g)?.length, 1, 'the second did not get control');
    await first.end();
    await r.waitFor(/operator left[\s\S]*"to":"engaged"/, 20_000);
    await second.end();
    await r.end();
    assert.ok(reportOf(r).counters['not-operator']! >= 4);
  });

  it('a newcomer at once where the robot was started with --takeover', async (context) => {
    const { keyFile, robot, operator } = await machines(context);
    const key = keyFile('pair');
    const r = robot(key, '--takeover');
    await r.waitFor(/"ready"/);
    await operator(key);
    await r.waitFor(/"to":"engaged"/);
    await operator(key);
    await r.waitFor(/"to":"engaged"[\s\S]*"to":"idle"[\s\S]*"to":"engaged"/, 20_000);
    await sleep(1000);
    assert.equal(
      r.stdout().match(/"to":"idle"/g)?.length,
      2,
      'the displaced operator does not reclaim the robot',
    );
  });

  it('the same operator after the robot was killed and restarted, once it is armed', async (context) => {
    const { keyFile, robot, operator } = await machines(context);
    const key = keyFile('pair');
    const r = robot(key);
    await r.waitFor(/"ready"/);
    const o = await operator(key);
    await r.waitFor(/"to":"engaged"/);
    r.process.kill('SIGKILL');
    await r.exited;
    const again = robot(key);
    await again.waitFor(/"to":"idle"/, 20_000);
    await sleep(1000);
    assert.doesNotMatch(again.stdout(), /"to":"armed"/, 'a restarted robot stays still until armed');
    await request(o.deskPort, 'arm');
    await again.waitFor(/"to":"engaged"/, 20_000);
  });

  it('no unpaired operator over ZeroMQ', async (context) => {
    const { keyFile, robot, operator } = await machines(context);
    const key = keyFile('pair');
    const r = robot(key, 'link.transport=zmq');
    await r.waitFor(/"ready"/);
    const stranger = await operator(keyFile('stranger'), 'link.transport=zmq');
    await stranger.waitFor(/"ready"/);
    await sleep(1500);
    assert.doesNotMatch(r.stdout(), /"to":"idle"/);
    await operator(key, 'link.transport=zmq');
    await r.waitFor(/"to":"engaged"/, 20_000);
  });

  it('no operator over the network without a key, which is said before anything else', async () => {
    const taken = createSocket('udp4').bind(0);
    await once(taken, 'listening');
    const port = `link.commandPort=${taken.address().port}`;
    for (const args of [
      ['robot', '--listen', '0.0.0.0', 'link.security=plain'],
      ['operator', '--robot', '192.0.2.1', 'link.security=plain'],
    ]) {
      const { code, stderr } = await farhand([...args, port]);
      assert.equal(code, 2);
      assert.match(stderr, /plain link is for loopback only/);
    }
    taken.close();
  });
});
