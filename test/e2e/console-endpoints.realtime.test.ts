import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { WebSocket } from 'ws';
import { openConsole } from '../../src/app/open-console.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Callers, callersOf, strangers } from './console-callers.ts';

/** All endpoints of the console, with the status that a viewer gets; 0: a socket that opens. */
const ENDPOINTS: readonly [method: string, where: string, viewer: number][] = [
  ['GET', 'api/devices', 200],
  ['GET', 'api/doctor', 403],
  ['GET', 'api/episodes', 200],
  ['GET', 'api/episodes/none', 404],
  ['GET', 'api/episodes/none/frame?camera=front&row=0', 404],
  ['GET', 'api/export', 200],
  ['POST', 'api/export', 403],
  ['POST', 'api/episodes', 403],
  ['POST', 'api/episodes/none', 403],
  ['DELETE', 'api/episodes/none', 403],
  ['POST', 'api/access/code', 403],
  ['POST', 'api/access/forget', 403],
  ['SOCKET', 'ws', 0],
  ['SOCKET', 'camera?name=front', 0],
];

describe('console endpoints', () => {
  let console_: ConsoleHandle;
  let url: string;
  let origin: string;
  let operator: string;
  let viewer: string;
  const state = process.env['FARHAND_STATE'];

  let ask: Callers['ask'];
  let openSocket: Callers['openSocket'];
  let statusOf: Callers['statusOf'];
  const paired = async (role: 'operator' | 'viewer') => {
    const { code } = console_.pairing.issue(role);
    return (await ask('POST', 'api/access/pair', { origin }, JSON.stringify({ code, name: role }))).cookie;
  };
  /** The answer to raw bytes that no browser would send. */
  const raw = async (text: string): Promise<string> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.end(text);
    let answer = '';
    socket.on('data', (data) => {
      answer += String(data);
    });
    await once(socket, 'close');
    return answer.split('\r\n')[0]!;
  };

  before(async () => {
    process.env['FARHAND_STATE'] = temporaryFolder();
    const ports = await freeUdpPorts(3);
    const { config } = loadRig('demo', [
      `console.deskPort=${ports[0]}`,
      `console.telemetryPort=${ports[1]}`,
      `cameras.port=${ports[2]}`,
      ...[
        'console.port=0',
        'link.security=plain',
        'cameras.list.front.source=sim',
        `record.dir=${temporaryFolder()}`,
      ],
    ]);
    console_ = await openConsole(config);
    url = console_.url;
    ({ ask, openSocket, statusOf } = callersOf(url));
    origin = url.replace(/\/$/, '');
    operator = (await ask('GET', '', {})).cookie;
    viewer = await paired('viewer');
  });

  after(async () => {
    await console_?.close();
    if (state === undefined) delete process.env['FARHAND_STATE'];
    else process.env['FARHAND_STATE'] = state;
  });

  it('reject missing and forged tokens, foreign origins and host names', async () => {
    for (const [who, headers] of Object.entries(strangers(origin, operator)))
      for (const [method, where] of ENDPOINTS) {
        const status = await statusOf(method, where, headers);
        assert.ok(status === 401 || status === 403, `${method} ${where} for ${who}: ${status}`);
      }
  });

  it('let a viewer read only', async () => {
    for (const [method, where, status] of ENDPOINTS)
      assert.equal(await statusOf(method, where, { origin, cookie: viewer }), status, `${method} ${where}`);
    for (const where of ['nowhere', 'camera', 'camera?name=', 'camera?name=../front', 'camera?name=back'])
      assert.equal(await statusOf('SOCKET', where, { origin, cookie: viewer }), 404, where);
    // An operator reaches the same endpoints: the rejections above depend on the role.
    assert.equal((await ask('POST', 'api/export', { origin, cookie: operator })).status, 400);
    assert.equal((await ask('POST', 'api/access/code', { origin, cookie: operator })).status, 403);
    const offered = await ask('POST', 'api/access/code', { origin, cookie: operator }, '{"role":"viewer"}');
    assert.equal(offered.status, 200);
  });

  it('reject every socket message from a viewer', async () => {
    const socket = (await openSocket('ws', { origin, cookie: viewer })) as WebSocket;
    const refused = new Map<string, string>();
    socket.on('message', (data) => {
      const { kind, request, reason } = JSON.parse(String(data)) as Record<string, string>;
      if (kind === 'refused') refused.set(request!, reason!);
    });
    const kinds = ['reset', 'arm', 'disarm', 'input', 'playout', 'playout-mode', 'home', 'hold', 'teleop'];
    const asked = [...kinds, 'record', 'link', 'hand', 'control', 'anything'];
    for (const kind of asked)
      socket.send(JSON.stringify({ kind, action: 'take', clutch: true, profile: 'wan' }));
    for (let i = 0; i < 500 && refused.size < asked.length; i++) await once(socket, 'message');
    assert.deepEqual([...refused].sort(), asked.map((kind) => [kind, 'viewer']).sort());
    socket.terminate();
  });

  it('survive malformed addresses', async () => {
    const host = 'Host: localhost\r\n';
    const end = 'Connection: close\r\n\r\n';
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    for (const address of ['//', '//[', '/%00', '/%E0%A4%A', 'http://', '/..%2f..%2f..%2fpackage.json']) {
      assert.match(await raw(`GET ${address} HTTP/1.1\r\n${host}${end}`), / 40[034] /, address);
      assert.match(await raw(`GET ${address} HTTP/1.1\r\n${host}${upgrade}`), / 40[0-4] /, address);
    }
    const spelled = await ask('GET', 'api/episodes/%E0%A4%A', { origin, cookie: viewer });
    assert.equal(spelled.status, 400);
    // A truncated body.
    const half = `POST /api/export HTTP/1.1\r\n${host}Origin: ${origin}\r\nCookie: ${operator}\r\n`;
    await raw(`${half}Content-Length: 100\r\n\r\n{"na`);
    assert.equal((await ask('GET', '', {})).status, 200, 'the console still answers');
  });

  it('close all connections of a forgotten device, cameras too', async () => {
    const cookie = await paired('viewer');
    const sockets = (await Promise.all(
      ['ws', 'camera?name=front'].map((where) => openSocket(where, { origin, cookie })),
    )) as WebSocket[];
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    await ask('POST', 'api/access/forget', { origin, cookie: operator }, '{"id":"viewer"}');
    assert.deepEqual(
      (await closed).map(([code]) => code),
      [4001, 4001],
    );
  });
});
