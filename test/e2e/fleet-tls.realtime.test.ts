import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Authority, createAuthority } from '../../src/fleet/authority.ts';
import { makeRouteCertificate } from '../../src/fleet/route-certificates.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand } from './farhand.ts';
import { writeCredentials } from './fleet-rig.ts';

const skip = needs('nats-server');
const HOST = '127.0.0.1';
/** An unused address: an attempt to connect would hang. */
const ELSEWHERE = 'nats://192.0.2.1:4222';

describe('a broker on another machine', () => {
  const folder = temporaryFolder();
  after(() => rmSync(folder, { recursive: true, force: true }));

  const clients: string[][] = [
    ['robot', '--fleet', ELSEWHERE],
    ['fleet', 'console', '--server', ELSEWHERE, '--port', '0'],
    ...['setup', 'ls', 'logs'].map((action) => ['fleet', action, '--server', ELSEWHERE]),
    ...['show', 'operate', 'release', 'estop', 'bucket', 'push', 'pull', 'recordings'].map((action) => [
      ...['fleet', action, 'arm', '--server', ELSEWHERE],
    ]),
  ];
  it('is rejected by every client without TLS, with the remedy', async () => {
    const creds = path.join(folder, 'any.creds');
    for (const args of clients) {
      const { code, stderr } = await farhand([...args, '--creds', creds]);
      assert.equal(code, 2, `${args.join(' ')}\n${stderr}`);
      assert.match(stderr, /192\.0\.2\.1:4222 is on another machine and not encrypted/, args.join(' '));
      assert.match(stderr, /tls:\/\/192\.0\.2\.1:4222.*fleet\.plainBeyondLoopback=true/, args.join(' '));
    }
  });

  it('is used without TLS where that is allowed: then only the credentials are missing', async () => {
    const creds = path.join(folder, 'none.creds');
    const allowed = ['--server', ELSEWHERE, '--creds', creds, 'fleet.plainBeyondLoopback=true'];
    assert.match((await farhand(['fleet', 'ls', ...allowed])).stderr, /credentials .* cannot be read/);
  });

  it('gets no configuration without TLS', async () => {
    const dir = path.join(folder, 'fleet');
    const open = await farhand(['fleet', 'init', '--host', '0.0.0.0', '--dir', dir]);
    assert.equal(open.code, 2);
    assert.match(open.stderr, /would listen on 0\.0\.0\.0 without TLS/);
    assert.match(open.stderr, /--tls-cert FILE --tls-key FILE/);
    assert.equal((await farhand(['fleet', 'dev', '--host', '0.0.0.0', '--dir', dir])).code, 2);
    assert.equal((await farhand(['fleet', 'init', '--dir', dir])).code, 0, 'on loopback');
    const server = ['fleet', 'server', 'n1', '--dir', dir];
    const tls = ['--tls-cert', '/c.pem', '--tls-key', '/k.pem'];
    const [bare, routed, fine] = await Promise.all([
      farhand([...server, '--host', '10.0.0.1']),
      farhand([...server, '--host', '10.0.0.1', ...tls, '--routes', '10.0.0.2:6222']),
      farhand([...server, '--host', '10.0.0.1', ...tls, '--routes', '10.0.0.2:6222', '--route-tls']),
    ]);
    assert.match(bare.stderr, /would listen on 10\.0\.0\.1 without TLS/);
    assert.match(routed.stderr, /a route .* without TLS[\s\S]*--route-tls/);
    assert.equal(fine.code, 0, fine.stderr);
  });
});

describe('tls:// in the address of a broker', { skip }, () => {
  const folder = temporaryFolder();
  const servers: RunningServer[] = [];
  let authority: Authority;
  let creds: string;
  let encrypted: RunningServer;
  let plain: RunningServer;

  before(async () => {
    authority = await createAuthority(path.join(folder, 'fleet'));
    creds = await writeCredentials(authority, folder, 'me', 'operator', ['*']);
    const [first, second] = await freeUdpPorts(2);
    const files = path.join(folder, 'certificate');
    mkdirSync(files);
    makeRouteCertificate(authority.folder, files, 'localhost', Date.now());
    const tls = { cert: path.join(files, 'route.pem'), key: path.join(files, 'route.key') };
    encrypted = await startServer(authority, { name: 'a', host: HOST, port: first!, tls });
    servers.push(encrypted);
    plain = await startServer(authority, { name: 'b', host: HOST, port: second! });
    servers.push(plain);
  });

  after(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(folder, { recursive: true, force: true });
  });

  const ls = (url: string) => farhand(['fleet', 'ls', '--server', url, '--creds', creds]);

  it('rejects a server without TLS, even on this machine', async () => {
    assert.equal((await ls(plain.url)).code, 0);
    const { code, stderr } = await ls(plain.url.replace('nats:', 'tls:'));
    assert.notEqual(code, 0);
    assert.match(stderr, /does not support 'tls'/);
  });

  it('makes a robot exit, not wait, when the broker lacks TLS', async () => {
    const arm = await writeCredentials(authority, folder, 'arm', 'robot', ['arm']);
    const url = plain.url.replace('nats:', 'tls:');
    const { code, stderr } = await farhand(['robot', '--fleet', url, '--creds', arm]);
    assert.notEqual(code, 0);
    assert.match(stderr, /does not support 'tls'/);
  });

  it('accepts only a server with a trusted certificate', async () => {
    const url = encrypted.url.replace(HOST, 'localhost');
    assert.match(url, /^tls:/);
    const stranger = await ls(url);
    assert.notEqual(stranger.code, 0);
    assert.match(stranger.stderr, /NODE_EXTRA_CA_CERTS/);
    process.env['NODE_EXTRA_CA_CERTS'] = path.join(folder, 'certificate', 'route-ca.pem');
    try {
      const { code, stderr } = await ls(url);
      assert.equal(code, 0, stderr);
    } finally {
      delete process.env['NODE_EXTRA_CA_CERTS'];
    }
  });
});
