import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority, issue } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand } from './farhand.ts';

const skip = needs('nats-server');
const SUBJECT = 'farhand.presence.arm';

describe('servers of a cluster with certificates', { skip }, () => {
  const folder = path.join(temporaryFolder(), 'fleet');
  const servers: ChildProcess[] = [];
  const connections: FleetConnection[] = [];
  const received = new Set<string>();
  /** The output of the cluster's three servers. */
  const texts: string[] = [];
  const output = () => texts.join('');
  let ports: number[] = [];
  let routes = '';

  const write = async (name: string, index: number, more: string[]) => {
    const where = ['--port', String(ports[index]), '--cluster-port', String(ports[5 + index])];
    const store = path.join(folder, 'servers', name, 'store');
    const place = ['--dir', folder, '--store', store, '--routes', routes];
    return farhand(['fleet', 'server', name, ...where, ...place, ...more]);
  };
  const start = (name: string) => {
    const cwd = path.join(folder, 'servers', name);
    const child = spawn('nats-server', ['-c', 'server.conf'], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    servers.push(child);
    child.stderr.on('data', (data: Buffer) => {
      if (/^n\d/.test(name)) texts.push(data.toString());
    });
  };
  /** Connects to one server and notes whose messages arrive there. */
  const enter = async (index: number): Promise<FleetConnection> => {
    const url = `nats://127.0.0.1:${ports[index]}`;
    const connection = await connectFleet(url, path.join(folder, 'root.creds'), { patient: true });
    connections.push(connection);
    connection.nats.subscribe(SUBJECT, {
      callback: (_, message) => void received.add(`${message.string()}→${index}`),
    });
    return connection;
  };
  const sendAll = async (isEnough: () => boolean, withinMs: number) => {
    for (const untilMs = performance.now() + withinMs; performance.now() < untilMs && !isEnough(); ) {
      for (const [index, { nats }] of connections.entries()) nats.publish(SUBJECT, String(index));
      await sleep(50);
    }
  };

  before(async () => {
    const authority = await createAuthority(folder);
    const who = { name: 'root', role: 'admin', robots: ['*'], seconds: 3600 } as const;
    writeFileSync(path.join(folder, 'root.creds'), await issue(authority, who, Date.now() / 1000));
    ports = await freeUdpPorts(10);
    routes = ports
      .slice(5, 8)
      .map((port) => `127.0.0.1:${port}`)
      .join(',');
    // The first creates the authority.
    const written = [await write('n0', 0, ['--route-tls'])];
    written.push(...(await Promise.all([1, 2].map((index) => write(`n${index}`, index, ['--route-tls'])))));
    for (const { code, stderr } of written) assert.equal(code, 0, stderr);
    for (const index of [0, 1, 2]) start(`n${index}`);
    for (const index of [0, 1, 2]) await enter(index);
  });
  after(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    for (const child of servers) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  });

  it('connect to each other', async () => {
    await sendAll(() => received.size === 9, 10_000);
    assert.equal(received.size, 9, [...received].join(' '));
  });

  it('reject a server without a certificate, and one with a certificate from another authority', async () => {
    const foreign = path.join(folder, 'foreign');
    await createAuthority(foreign);
    const made = await farhand(['fleet', 'server', 'x', '--dir', foreign, '--routes', routes, '--route-tls']);
    assert.equal(made.code, 0, made.stderr);
    const files = path.join(foreign, 'servers', 'x');
    const own = ['--route-cert', path.join(files, 'route.pem'), '--route-key', path.join(files, 'route.key')];
    const ca = ['--route-ca', path.join(folder, 'routes.pem')];
    const [half, ...written] = await Promise.all([
      write('half', 3, own),
      write('plain', 3, []),
      write('stranger', 4, [...own, ...ca]),
    ]);
    assert.match(half.stderr, /go together/);
    for (const { code, stderr } of written) assert.equal(code, 0, stderr);
    for (const name of ['plain', 'stranger']) start(name);
    for (const index of [3, 4]) await enter(index);
    const refused = () =>
      /not look like a TLS handshake/.test(output()) && /unknown authority/.test(output());
    await sendAll(refused, 10_000);
    assert.ok(refused(), output());
    received.clear();
    await sendAll(() => false, 300);
    const expected = [0, 1, 2].flatMap((from) => [0, 1, 2].map((to) => `${from}→${to}`));
    assert.deepEqual([...received].sort(), [...expected, '3→3', '4→4']);
    assert.doesNotMatch(readFileSync(path.join(folder, 'servers/plain/server.conf'), 'utf8'), /verify/);
  });
});
