import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TeleopError } from '../core/errors.ts';
import { refusePlainBroker, refusePlainServer } from './broker-tls.ts';
import { serverConfig } from './server-config.ts';
import { judgeVersion, refuseUnsafeServer } from './server-version.ts';

const refused = (remedy: RegExp) => (error: unknown) =>
  error instanceof TeleopError && error.code === 'not-loopback' && remedy.test(error.hint ?? '');

describe('a broker without TLS', () => {
  for (const url of [
    'nats://127.0.0.1:4222',
    'nats://localhost',
    '127.0.0.9:4222',
    'nats://[::1]:4222',
    'nats://127.0.0.1:4222,nats://127.0.0.2:4222',
  ])
    it(`is accepted on loopback: ${url}`, () =>
      assert.deepEqual(refusePlainBroker(url, false), { tls: false }));

  for (const url of [
    'nats://10.0.0.1:4222',
    'nats://broker',
    '10.0.0.1',
    'nats://127.0.0.1:4222,nats://10.0.0.1:4222',
    'nats://localhost.example.com:4222',
    'nats://127.0.0.1.example.com',
    'nats://127.0.0.1:4222@10.0.0.1:4222',
    'nats://127.0.0.1://10.0.0.1:4222',
    'ws://10.0.0.1:4222',
    'nats://10.0.0.1:4222/tls://',
    'nats://0.0.0.0:4222',
    '',
  ])
    it(`is rejected beyond loopback unless allowed: "${url}"`, () => {
      assert.throws(
        () => refusePlainBroker(url, false),
        refused(/tls:\/\/.*fleet\.plainBeyondLoopback=true/),
      );
      assert.deepEqual(refusePlainBroker(url, true), { tls: false });
    });

  it('is rejected in a list with tls:// servers, too', () => {
    assert.deepEqual(refusePlainBroker('tls://10.0.0.1:4222', false), { tls: true });
    assert.deepEqual(refusePlainBroker('tls://10.0.0.1,tls://10.0.0.2', false), { tls: true });
    assert.deepEqual(refusePlainBroker('tls://10.0.0.1', true), { tls: true });
    assert.throws(() => refusePlainBroker('tls://10.0.0.1,nats://10.0.0.2', false), refused(/tls:/));
  });
});

describe('a server’s settings', () => {
  const tls = { cert: 'c.pem', key: 'k.pem' };
  const cluster = { name: 'fleet', host: '10.0.0.1', port: 6222, routes: ['nats-route://10.0.0.2:6222'] };
  const leafOf = { credentials: 'x.creds', account: 'A' };

  it('allow listening beyond loopback only with TLS', () => {
    refusePlainServer({ host: '127.0.0.1' }, false);
    refusePlainServer({ host: '10.0.0.1', tls }, false);
    for (const host of ['0.0.0.0', '10.0.0.1', '::', 'broker'])
      assert.throws(() => refusePlainServer({ host }, false), refused(/--tls-cert/));
    refusePlainServer({ host: '0.0.0.0' }, true);
  });

  it('allow routes and leaf connections to other machines only with TLS', () => {
    assert.throws(() => refusePlainServer({ host: '10.0.0.1', tls, cluster }, false), refused(/--route-tls/));
    const routes = { ...cluster, tls: { ...tls, ca: 'ca.pem' } };
    refusePlainServer({ host: '10.0.0.1', tls, cluster: routes }, false);
    const leaf = (url: string) => ({ host: '127.0.0.1', leafOf: { ...leafOf, url } });
    assert.throws(() => refusePlainServer(leaf('nats-leaf://10.0.0.1:7422'), false), refused(/tls:\/\//));
    refusePlainServer(leaf('tls://10.0.0.1:7422'), false);
    refusePlainServer(leaf('nats-leaf://127.0.0.1:7422'), false);
  });

  it('encrypt the leaf port as well', () => {
    const common = { name: 'n', host: '10.0.0.1', port: 4222, storeDir: '/s', operator: 'o', system: 's' };
    const text = serverConfig({ ...common, users: '', accounts: {}, tls, leafPort: 7422 });
    assert.match(
      text,
      /leafnodes \{ listen: "10\.0\.0\.1:7422", tls \{ cert_file: "c\.pem", key_file: "k\.pem" \} \}/,
    );
    assert.match(
      serverConfig({ ...common, users: '', accounts: {}, leafPort: 7422 }),
      /leafnodes \{ listen: "10\.0\.0\.1:7422" \}/,
    );
  });
});

describe('a version of nats-server', () => {
  // Ranges from the advisories of NATS: 2025-30215, 2026-33218, 2026-33249 and the fixes of June 2026.
  for (const [verdict, versions] of Object.entries({
    good: ['2.11.16', '2.11.17', '2.12.7', '2.12.15', '2.14.0', '2.15.2', 'v2.15.2', '3.0.0'],
    outdated: ['2.9.10', '2.10.26', '2.10.29', '2.11.15', '2.12.6'],
    unsafe: ['2.11.0', '2.11.12', '2.11.14', '2.12.0', '2.12.5', '2.8.4', '1.4.1', '', 'dev'],
  }))
    it(`is ${verdict}: ${versions.join(', ')}`, () => {
      for (const version of versions) assert.equal(judgeVersion(version), verdict, version);
    });

  it('with a hole is refused, with a remedy', () => {
    assert.throws(
      () => refuseUnsafeServer('2.12.3'),
      ({ code, hint }: TeleopError) => code === 'server-unsafe' && /2\.12\.7/.test(hint ?? ''),
    );
    refuseUnsafeServer('2.9.10');
  });
});
