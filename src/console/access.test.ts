import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { Access } from './access.ts';
import { DeviceStore } from './devices.ts';

const PORT = 4747;
const folder = (): string => temporaryFolder('access');

interface Shape {
  method?: string;
  headers?: Record<string, string>;
  remote?: string;
  local?: string;
  secure?: boolean;
}

/** The parts of a request that access depends on, without a real socket. */
function request({
  method = 'GET',
  headers = {},
  remote = '127.0.0.1',
  local = '127.0.0.1',
  secure = false,
}: Shape) {
  const socket = {
    remoteAddress: remote,
    localAddress: local,
    localPort: PORT,
    ...(secure && { encrypted: true }),
  };
  return { method, headers: { host: `localhost:${PORT}`, ...headers }, socket } as unknown as IncomingMessage;
}

const tokenIn = (cookie: string): string => /=([^;]+)/.exec(cookie)![1]!;

describe('access to the console', () => {
  const access = new Access({ folder: folder() });
  const cookie = access.pageHeaders(request({}))['set-cookie']!;
  const local = { cookie: cookie.split(';')[0]! };
  const origin = `http://localhost:${PORT}`;

  it('makes this machine’s browser an operator with the token sent with the page', () => {
    assert.match(cookie, /HttpOnly; SameSite=Strict/);
    assert.equal(access.authorize(request({})), null, 'no token');
    assert.equal(access.authorize(request({ headers: local })), 'operator');
    assert.deepEqual(access.pageHeaders(request({ headers: local })), {}, 'no second token');
  });

  it('rejects other origins, other hosts, and sockets and POSTs without an origin', () => {
    const upgrade = { ...local, upgrade: 'websocket' };
    assert.equal(access.authorize(request({ headers: { ...upgrade, origin } })), 'operator');
    assert.equal(access.authorize(request({ headers: upgrade })), null);
    assert.equal(access.authorize(request({ headers: { ...upgrade, origin: 'http://evil.example' } })), null);
    assert.equal(access.authorize(request({ headers: { ...local, origin: 'null' } })), null);
    assert.equal(access.authorize(request({ method: 'POST', headers: local })), null);
    assert.equal(access.authorize(request({ method: 'POST', headers: { ...local, origin } })), 'operator');
    assert.equal(access.authorize(request({ headers: { ...local, 'sec-fetch-site': 'cross-site' } })), null);
    const rebound = { host: `evil.example:${PORT}`, origin: `http://evil.example:${PORT}` };
    assert.equal(access.authorize(request({ headers: { ...local, ...rebound } })), null);
  });

  it('neither accepts the local token from another machine nor sends it there', () => {
    const elsewhere = { remote: '192.168.1.9', local: '192.168.1.5' };
    const headers = { host: `192.168.1.5:${PORT}`, ...local };
    assert.equal(access.authorize(request({ ...elsewhere, headers })), null);
    assert.deepEqual(
      access.pageHeaders(request({ ...elsewhere, headers: { host: `192.168.1.5:${PORT}` } })),
      {},
    );
    // From loopback, but by this machine's LAN address: it may come through a proxy.
    assert.equal(access.authorize(request({ headers: { ...local, host: `192.168.1.5:${PORT}` } })), null);
  });

  it('gives a local browser no token when trustLocal is false', () => {
    const strict = new Access({ folder: folder(), trustLocal: false });
    assert.deepEqual(strict.pageHeaders(request({})), {});
  });

  it('keeps the local token across a restart, readable by its owner only', () => {
    const where = folder();
    const first = new Access({ folder: where }).pageHeaders(request({}))['set-cookie']!;
    assert.equal(new Access({ folder: where }).pageHeaders(request({}))['set-cookie'], first);
    if (process.platform !== 'win32')
      assert.equal(statSync(path.join(where, 'local-token')).mode & 0o777, 0o600);
  });

  it('works when the token cannot be saved, and warns that a restart needs open pages reloaded', () => {
    const where = path.join(folder(), 'file');
    writeFileSync(where, '');
    const reported: string[] = [];
    const devices = new DeviceStore(folder());
    const access = new Access({ folder: where, devices, warn: (text) => reported.push(text) });
    assert.match(reported.join(), /^Reload open pages after the console restarts: ./);
    assert.ok(access.pageHeaders(request({}))['set-cookie']);
  });
});

describe('paired devices', () => {
  const elsewhere = { remote: '192.168.1.9', local: '192.168.1.5', secure: true };
  const headers = (token: string) => ({ host: `192.168.1.5:${PORT}`, authorization: `Bearer ${token}` });

  it('are accepted by their token, in their role, until forgotten or expired', () => {
    let nowMs = Date.parse('2026-01-01');
    const where = folder();
    const devices = new DeviceStore(where, () => nowMs);
    const access = new Access({ folder: where, devices });
    const { token, device } = devices.add('Quest 3', 'operator');
    const viewer = devices.add('Phone', 'viewer');
    const role = (text: string) => access.authorize(request({ ...elsewhere, headers: headers(text) }));
    assert.deepEqual([role(token), role(viewer.token)], ['operator', 'viewer']);
    assert.equal(role(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`), null);
    const cookie = access.cookie(request(elsewhere), token);
    assert.match(cookie, /Secure/);
    assert.equal(tokenIn(cookie), token);
    assert.equal(devices.forget(device.id), 1);
    assert.equal(role(token), null);
    nowMs += 31 * 24 * 3600e3;
    assert.equal(role(viewer.token), null);
  });

  it('are stored as hashes only, in a file that only its owner can read', () => {
    const where = folder();
    const { token } = new DeviceStore(where).add('Quest\u001b[2J 3\nx', 'operator');
    const file = path.join(where, 'devices.json');
    assert.ok(!readFileSync(file, 'utf8').includes(token));
    assert.equal(new DeviceStore(where).list()[0]!.name, 'Quest 2J 3 x');
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(new DeviceStore(where).find(token)!.role, 'operator');
    assert.equal(new DeviceStore(folder()).find(token), null);
  });

  it('are not accepted from a damaged file, which is reported and kept when the next device is paired', () => {
    for (const text of ['[[[', '', '{}', '{"format":"farhand-devices/1","devices":[{"id":7}]}']) {
      const where = folder();
      const file = path.join(where, 'devices.json');
      const store = new DeviceStore(where);
      assert.doesNotThrow(() => store.check(), 'no file is no damage');
      const { token } = store.add('Quest', 'operator');
      writeFileSync(file, text);
      utimesSync(file, 1, 1);
      assert.throws(() => store.check(), /devices\.json is damaged/);
      assert.throws(() => store.forget('Quest'), /devices\.json is damaged/);
      assert.equal(store.find(token), null);
      assert.equal(readFileSync(file, 'utf8'), text);
      const reported: string[] = [];
      new Access({ folder: where, warn: (problem) => reported.push(problem) });
      assert.match(reported.join(), /^No paired device is accepted: .*devices\.json is damaged/);
      store.add('Phone', 'viewer');
      assert.deepEqual(
        store.list().map(({ name }) => name),
        ['Phone'],
      );
      const [aside] = readdirSync(where).filter((name) => name.startsWith('devices.damaged-'));
      assert.equal(readFileSync(path.join(where, aside!), 'utf8'), text);
      assert.doesNotThrow(() => store.check());
    }
  });
});
