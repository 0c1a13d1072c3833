import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  type LinkEmulator,
  type LinkEmulatorOptions,
  startLinkEmulator,
} from '../../src/app/link-emulator.ts';
import type { Percentiles } from '../../src/core/statistics/percentiles.ts';
import { monotonicClock } from '../../src/core/time/clock.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, startFarhand } from './farhand.ts';

async function socketOn(address = '127.0.0.1'): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  return socket;
}

interface Arrival {
  id: number;
  forwardMs: number;
  returnMs: number;
}

/** A client that stamps what it sends and a robot that stamps and returns it. */
async function echoPair() {
  const robot = await socketOn();
  const client = await socketOn();
  const arrivals: Arrival[] = [];
  robot.on('message', (bytes, from) => {
    bytes.writeDoubleLE(monotonicClock.nowNs(), 16);
    robot.send(bytes, from.port, from.address);
  });
  client.on('message', (bytes) => {
    const atNs = monotonicClock.nowNs();
    const [id, sentNs, turnedNs] = [0, 8, 16].map((at) => bytes.readDoubleLE(at)) as [number, number, number];
    arrivals.push({ id, forwardMs: (turnedNs - sentNs) / 1e6, returnMs: (atNs - turnedNs) / 1e6 });
  });
  return {
    target: `127.0.0.1:${robot.address().port}`,
    arrivals,
    send(port: number, id: number, address = '127.0.0.1') {
      const bytes = Buffer.alloc(200);
      bytes.writeDoubleLE(id, 0);
      bytes.writeDoubleLE(monotonicClock.nowNs(), 8);
      client.send(bytes, port, address);
    },
    close() {
      robot.close();
      client.close();
    },
  };
}

async function withLink(
  options: Omit<LinkEmulatorOptions, 'mappings'>,
  work: (pair: Awaited<ReturnType<typeof echoPair>>, link: LinkEmulator) => Promise<void>,
): Promise<void> {
  const pair = await echoPair();
  const link = await startLinkEmulator({ ...options, mappings: [{ listen: '0', target: pair.target }] });
  try {
    await work(pair, link);
  } finally {
    await link.close();
    pair.close();
  }
}

const ms = (part: Percentiles) =>
  `p50 ${part.p50.toFixed(3)} p95 ${part.p95.toFixed(3)} p99 ${part.p99.toFixed(3)} max ${part.max.toFixed(3)} ms`;

/** Accuracy depends on the machine; never being early does not. */
async function assertDelays(reactor: 'auto' | 'dgram'): Promise<void> {
  const request = { reactor, forward: { delayMs: 12 }, return: { delayMs: 25 } };
  await withLink(request, async (pair, link) => {
    for (let id = 0; id < 50; id++) {
      pair.send(link.ports[0]!, id);
      await sleep(5);
    }
    await until(
      'every datagram',
      () => pair.arrivals.length === 50,
      () => pair.arrivals.length,
    );
    assert.ok(
      pair.arrivals.every((arrival, i) => arrival.id === i),
      'in order',
    );
    for (const { forwardMs, returnMs } of pair.arrivals)
      assert.ok(forwardMs > 11.9 && returnMs > 24.9, `never early: ${forwardMs} ${returnMs}`);
    const { forward } = link.stats();
    assert.equal(forward.forwarded, 50);
    assert.ok(Math.abs(forward.delayMs!.max - 12) < 0.1);
  });
}

describe('link emulator over real sockets', () => {
  it('delays both directions as configured', () => assertDelays('auto'));
  it('does so without native sockets', () => assertDelays('dgram'));

  it('changes at run time', () =>
    withLink({}, async (pair, link) => {
      const port = link.ports[0]!;
      const arrived = (...ids: number[]) =>
        until(
          `datagrams ${ids}`,
          () => pair.arrivals.map(({ id }) => id).join() === ids.join(),
          () => JSON.stringify(pair.arrivals),
        );
      pair.send(port, 0);
      await arrived(0);
      await link.set({ events: [{ kind: 'hole', atMs: 0, forMs: 60_000, direction: 'forward' }] });
      pair.send(port, 1);
      await until('a loss', () => link.stats().forward.lost === 1);
      await link.set({ forward: { delayMs: 40 } });
      pair.send(port, 2);
      await arrived(0, 2);
      await link.set('ethernet');
      assert.equal(link.settings().return.label, 'ethernet');
      await assert.rejects(link.set('ethernett'), { code: 'bad-option' });
      pair.send(port, 3);
      await arrived(0, 2, 3);
      assert.ok(pair.arrivals[1]!.forwardMs >= 39.9);
      assert.ok(pair.arrivals[2]!.forwardMs >= 1.2 && pair.arrivals[2]!.returnMs >= 1.2);
      assert.deepEqual(link.stats().forward.lostBy, { hole: 1 });
    }));

  it('listens on loopback only by default', () =>
    withLink({}, async (pair, link) => {
      pair.send(link.ports[0]!, 0, '127.0.0.2');
      const open = await startLinkEmulator({ mappings: [{ listen: '127.0.0.2:0', target: pair.target }] });
      try {
        pair.send(open.ports[0]!, 1, '127.0.0.2');
        await until('one datagram', () => open.stats().forward.forwarded === 1);
      } finally {
        await open.close();
      }
      assert.equal(link.stats().forward.received, 0);
    }));

  it('survives a flood with bounded memory', () =>
    withLink({ profile: 'wan', maxQueued: 256 }, async (pair, link) => {
      for (let i = 0; i < 40; i++) {
        for (let j = 0; j < 250; j++) pair.send(link.ports[0]!, i);
        await sleep(5);
      }
      const reported = () => JSON.stringify(link.stats().forward);
      await until('an empty queue', () => link.stats().forward.queued === 0, reported);
      // The kernel's buffer drops some before the link sees them, more on a busy machine.
      const { lostBy, forwarded } = link.stats().forward;
      assert.ok(lostBy.overflow! > 0 && forwarded > 256, reported());
      await link.set('off');
      pair.send(link.ports[0]!, 999);
      await until('a datagram after the flood', () => pair.arrivals.some(({ id }) => id === 999), reported);
    }));
});

describe('farhand link', () => {
  it('follows a recorded trace and reports what it did', async () => {
    const file = path.join(temporaryFolder(), 'cluster.csv.gz');
    writeFileSync(file, gzipSync(readFileSync('test/data/delay-traces/wifi-cluster.csv')));
    const pair = await echoPair();
    const [port = 0] = await freeUdpPorts(1);
    const args = ['--trace', file, '--return-profile', 'off', '--json', '--hole', '200ms@2.6s'];
    const link = startFarhand(['link', ...args, '--duration', '4', `${port}=${pair.target}`]);
    for (let id = 0; link.process.exitCode === null; id++) {
      pair.send(port, id);
      await sleep(9);
    }
    assert.equal(await link.exited, 0, link.stderr());
    pair.close();
    const lines = link.stdout().trim().split('\n');
    assert.equal(lines.length, 1, 'one line of JSON');
    const { forward, return: back, mappings } = JSON.parse(lines[0]!);
    assert.deepEqual(mappings, [{ port, target: pair.target }]);
    assert.deepEqual([forward.link, back.link], ['trace cluster', 'off']);
    assert.ok(forward.delayMs.p50 > 1.8 && forward.delayMs.p50 < 4.5, JSON.stringify(forward));
    assert.ok(forward.delayMs.max > 20 && forward.delayMs.max < 46);
    assert.ok(forward.lostBy.hole >= 1 && forward.lostBy.hole <= 24, JSON.stringify(forward));
    assert.ok(back.delayMs.max < 0.001);
  });

  it('prints its settings, and a summary at the end', async () => {
    const [port = 0] = await freeUdpPorts(1);
    const link = startFarhand(['link', '--profile', 'bloat', '--seed', '7', `${port}=4750`]);
    await link.waitFor(/link ready: forward bloat; return bloat; seed 7/);
    await link.waitFor(new RegExp(`127\\.0\\.0\\.1:${port} ⇄ 127\\.0\\.0\\.1:4750`));
    assert.equal(await link.end(), 0);
    assert.match(link.stdout(), /forward: 0 received, 0 forwarded, 0 lost/);
  });

  it('reads everything from a file', async () => {
    const file = path.join(temporaryFolder(), 'link.json');
    const events = [{ kind: 'hole', atMs: 0, forMs: 100, everyMs: 1000 }];
    writeFileSync(file, JSON.stringify({ profile: 'wifi', forward: { delayMs: 9 }, events, seed: 3 }));
    const args = ['link', '--file', file, '--set', 'loss.share=0.5', '--duration', '0.1', '--json', '0=4750'];
    const { code, stdout, stderr } = await farhand(args);
    assert.equal(code, 0, stderr);
    const summary = JSON.parse(stdout);
    assert.deepEqual([summary.seed, summary.forward.link], [3, 'wifi, changed']);
    writeFileSync(file, JSON.stringify({ profil: 'wifi' }));
    const wrong = await farhand(args);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /link\.json: .*profil/);
  });

  it('reports which port is in use', async () => {
    const socket = await socketOn();
    const { port } = socket.address();
    const { code, stderr } = await farhand(['link', '--profile', 'off', `${port}=4750`]);
    socket.close();
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`127\\.0\\.0\\.1:${port} .*is in use`));
  });
});

describe('operator and robot over an emulated link', () => {
  it('work, and the trace shows the link in its wire segment', async (context) => {
    const dir = temporaryFolder();
    const ports = await freeUdpPorts(5);
    const keys = ['commandPort', 'statePort', 'syncPort'];
    const robotPorts = keys.map((key, i) => `link.${key}=${ports[i]}`);
    const keyFile = path.join(temporaryFolder(), 'link.key');
    assert.equal((await farhand(['pair', '--key-file', keyFile])).code, 0);
    const robot = startFarhand(['robot', `link.keyFile=${keyFile}`, ...robotPorts]);
    const link = await startLinkEmulator({
      mappings: keys.map((_, i) => ({ listen: '0', target: `${ports[i]}` })),
      profile: 'wifi',
    });
    const operator = startFarhand([
      'operator',
      `link.keyFile=${keyFile}`,
      ...keys.map((key, i) => `link.${key}=${link.ports[i]}`),
      `console.deskPort=${ports[3]}`,
      `console.telemetryPort=${ports[4]}`,
      `trace.dir=${dir}`,
    ]);
    try {
      await robot.waitFor(/armed → engaged/);
      await until('three hundred commands', () => link.stats().forward.forwarded > 300);
    } finally {
      await operator.end();
      await robot.end();
      await link.close();
    }
    const stats = link.stats();
    const file = path.join(dir, readdirSync(dir)[0]!);
    const report = await farhand(['trace', 'report', file, '--json']);
    const { commands, applied, segmentsMs } = JSON.parse(report.stdout) as {
      commands: number;
      applied: number;
      segmentsMs: { wire: Percentiles };
    };
    const configured = stats.forward.delayMs!;
    context.diagnostic(
      `${applied} of ${commands} applied; wire ${ms(segmentsMs.wire)}; configured ${ms(configured)}`,
    );
    assert.ok(applied > 0 && applied <= commands, `${applied} of ${commands}`);
    assert.equal(stats.forward.lost + stats.return.lost, 0);
    // The offset is wrong by at most half the difference between the two directions; a busy machine only
    // adds.
    assert.ok(segmentsMs.wire.p50 > configured.p50 - 1.2, 'wire p50 is the link’s');
  });
});
