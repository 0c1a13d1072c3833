import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { needs } from '../../test/needs.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { openTls } from './ca.ts';
import { authorityCertificate, createKeyPair, hostCertificate } from './x509.ts';

const folder = (): string => temporaryFolder('ca');
const NOW_MS = Date.now();
const PLACES = { addresses: ['127.0.0.1', '192.168.7.9', 'fd00::9'], names: ['localhost', 'bench.local'] };

async function handshake(server: tls.SecureContextOptions, client: tls.ConnectionOptions): Promise<string> {
  const listener = tls.createServer(server, (socket) => socket.end('hello'));
  listener.on('tlsClientError', () => {});
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      const socket = tls.connect({ host: '127.0.0.1', port, ...client }, () => {
        resolve(socket.authorized ? 'authorized' : String(socket.authorizationError));
        socket.destroy();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code} ${error.message}`));
    });
  } finally {
    listener.close();
  }
}

describe('the console’s own certificates', () => {
  const where = folder();
  const made = openTls(where, NOW_MS, PLACES);

  it('are read back by Node as they were issued', () => {
    const [ca, host] = [new X509Certificate(made.ca), new X509Certificate(made.cert)];
    assert.equal(ca.ca, true);
    assert.equal(host.ca, false);
    assert.ok(ca.verify(ca.publicKey) && host.verify(ca.publicKey) && host.checkIssued(ca));
    assert.equal(
      host.subjectAltName,
      'DNS:localhost, DNS:bench.local, IP Address:127.0.0.1, IP Address:192.168.7.9, IP Address:FD00:0:0:0:0:0:0:9',
    );
    const days = (Date.parse(host.validTo) - Date.parse(host.validFrom)) / 24 / 3600e3;
    assert.ok(days <= 398, `${days} days`);
    assert.match(made.fingerprint, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    assert.equal(made.fingerprint, ca.fingerprint256);
  });

  it('pass a real handshake only with clients that trust the authority', async () => {
    const { cert, key, ca } = made;
    assert.equal(await handshake({ cert, key }, { ca }), 'authorized');
    assert.equal(await handshake({ cert, key }, { ca, servername: 'bench.local' }), 'authorized');
    assert.match(await handshake({ cert, key }, {}), /SELF_SIGNED|UNABLE_TO/);
    assert.match(
      await handshake({ cert, key }, { ca: openTls(folder(), NOW_MS, PLACES).ca }),
      /VERIFY|SIGNATURE|SELF_SIGNED|UNABLE_TO/,
    );
    assert.match(
      await handshake({ cert, key }, { ca, servername: 'elsewhere.example' }),
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    );
  });

  it('are rejected for names outside the authority’s realm', async () => {
    const authority = { name: 'test', keys: createKeyPair() };
    const ca = authorityCertificate(authority, { networks: ['10.0.0.0/8'], domains: ['local'] }, 30, NOW_MS);
    const keys = createKeyPair();
    const key = String(keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const issue = (names: string[], addresses: string[]) =>
      hostCertificate(authority, { publicKey: keys.publicKey, name: 'x', names, addresses }, 30, NOW_MS);
    const connect = (cert: string, servername: string) => handshake({ cert, key }, { ca, servername });
    assert.equal(await connect(issue(['desk.local'], []), 'desk.local'), 'authorized');
    assert.match(await connect(issue(['bank.example'], []), 'bank.example'), /permitted subtree violation/);
    assert.match(
      await connect(issue(['desk.local'], ['8.8.8.8']), 'desk.local'),
      /permitted subtree violation/,
    );
  });

  it('name IPv6 addresses only where the authority may', async () => {
    const { cert, key, ca } = made;
    const withAddress = {
      ca,
      checkServerIdentity: (_: string, peer: tls.PeerCertificate) => tls.checkServerIdentity('fd00::9', peer),
    };
    assert.equal(await handshake({ cert, key }, withAddress), 'authorized');
    const older = folder();
    const authority = { name: 'older', keys: createKeyPair() };
    const realm = { networks: ['127.0.0.0/8', '192.168.0.0/16'], domains: ['localhost', 'local'] };
    writeFileSync(path.join(older, 'ca.pem'), authorityCertificate(authority, realm, 3000, NOW_MS), {
      mode: 0o600,
    });
    const pem = String(authority.keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(path.join(older, 'ca.key'), pem, { mode: 0o600 });
    const kept = openTls(older, NOW_MS, PLACES);
    assert.equal(await handshake(kept, { ca: kept.ca }), 'authorized');
    assert.deepEqual(kept.addresses, ['127.0.0.1', '192.168.7.9']);
  });

  it('are readable by their owner only, and issued again when addresses change or they expire', () => {
    if (process.platform !== 'win32')
      for (const name of readdirSync(where))
        assert.equal(statSync(path.join(where, name)).mode & 0o777, 0o600, name);
    const again = openTls(where, NOW_MS, PLACES);
    assert.deepEqual([again.cert, again.key], [made.cert, made.key]);
    const moved = openTls(where, NOW_MS, { ...PLACES, addresses: ['10.1.2.3'] });
    assert.equal(moved.ca, made.ca, 'the authority is kept');
    assert.notEqual(moved.cert, made.cert);
    assert.equal(new X509Certificate(moved.cert).checkIP('10.1.2.3'), '10.1.2.3');
    const later = openTls(where, NOW_MS + 370 * 24 * 3600e3, { ...PLACES, addresses: ['10.1.2.3'] });
    assert.notEqual(later.cert, moved.cert, 'renewed before it expires');
    writeFileSync(path.join(where, 'ca.key'), 'garbage');
    assert.notEqual(openTls(where, NOW_MS, PLACES).ca, made.ca);
  });

  it('are different in every installation', () => {
    assert.notEqual(openTls(folder(), NOW_MS, PLACES).fingerprint, made.fingerprint);
  });

  it('pass openssl', { skip: needs('openssl') }, () => {
    const [ca, host] = ['ca', 'host'].map((name) => path.join(folder(), `${name}.pem`)) as [string, string];
    writeFileSync(ca, made.ca);
    writeFileSync(host, made.cert);
    const output = execFileSync('openssl', [
      'verify',
      '-x509_strict',
      '-purpose',
      'sslserver',
      '-CAfile',
      ca,
      host,
    ]);
    assert.match(String(output), /: OK/);
    const text = String(execFileSync('openssl', ['x509', '-in', ca, '-noout', '-text']));
    assert.match(text, /CA:TRUE, pathlen:0/);
    assert.match(text, /Name Constraints: critical[\s\S]*IP:192\.168\.0\.0\/255\.255\.0\.0/);
    assert.ok(readFileSync(host, 'utf8').includes('BEGIN CERTIFICATE'));
  });
});
