import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { openConsole } from '../../src/app/open-console.ts';
import { openTls } from '../../src/console/ca.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startFarhand } from './farhand.ts';

const LIMITS = {
  ...{ local: 16, known: 16, strangers: 64, perAddress: 16 },
  ...{ headMs: 2000, bodyMs: 2000, answerMs: 10_000, idleMs: 1000, pingMs: 1000 },
};
const STRANGERS = 1000;
/** Longest wait of a legitimate client for an answer, even on a loaded machine. */
const ANSWER_MS = 20_000;
/** All deadlines above, with room for a loaded machine. */
const CLOSED_MS = 30_000;
const HOME = '127.0.0.1';
const HEADSET = '127.0.0.200';
const TABLET = '127.0.0.201';
const DRIBBLE_MS = 200;

/** A connection that never completes: what it sends first, and what it sends occasionally. */
interface Slow {
  open(port: number, localAddress: string): Socket;
  first: string | Buffer;
  later: string;
}

const plain: Slow['open'] = (port, localAddress) => connect({ host: HOME, port, localAddress });
const sealed: Slow['open'] = (port, localAddress) =>
  connectTls({ socket: connect({ host: HOME, port, localAddress }), rejectUnauthorized: false });
const head = (line: string) => `${line} HTTP/1.1\r\nHost: ${HOME}\r\n`;
const SLOW: readonly Slow[] = [
  { open: plain, first: '', later: '' },
  { open: plain, first: head('GET /'), later: 'x-a: b\r\n' },
  { open: plain, first: `${head('POST /')}content-length: 9999\r\n\r\n`, later: 'x' },
  { open: plain, first: Buffer.from([0x16, 3, 1, 2, 0]), later: '\x01' },
  { open: sealed, first: head('GET /api/access'), later: 'x-a: b\r\n' },
  { open: sealed, first: `${head('POST /api/access/pair')}content-length: 999\r\n\r\n`, later: ' ' },
  { open: plain, first: `${head('GET /ws')}connection: upgrade\r\nupgrade: websocket\r\n\r\n`, later: 'x' },
];

class Flood {
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();

  get open(): number {
    return this.#sockets.size;
  }

  start(kind: Slow, port: number, localAddress: string): void {
    const socket = kind.open(port, localAddress);
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.resume();
    const timer = setInterval(() => kind.later !== '' && socket.write(kind.later), DRIBBLE_MS);
    this.#timers.add(timer);
    socket.once(kind.open === plain ? 'connect' : 'secureConnect', () => socket.write(kind.first));
    socket.once('close', () => {
      clearInterval(timer);
      this.#sockets.delete(socket);
    });
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Status and time of one request on its own connection. */
function get(url: string, localAddress: string, headers: Record<string, string> = {}) {
  const startMs = performance.now();
  const module = url.startsWith('https') ? https : http;
  return new Promise<{ status: number; tookMs: number; text: string }>((resolve, reject) => {
    const options = {
      localAddress,
      headers,
      agent: false,
      rejectUnauthorized: false,
      timeout: ANSWER_MS,
    };
    const request = module.get(url, options, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, tookMs: performance.now() - startMs, text });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer to ${url}`)));
    request.on('error', reject);
  });
}

const until = async (what: string, holds: () => boolean, withinMs: number) => {
  for (const untilMs = performance.now() + withinMs; !holds() && performance.now() < untilMs; )
    await sleep(50);
  assert.ok(holds(), what);
};

describe('a console that unknown clients try to block', () => {
  let served: ConsoleHandle;
  let port = 0;
  let cookie = '';
  const state = temporaryFolder();
  const flood = new Flood();
  const secure = () => `https://${HOME}:${port}/`;
  const origin = () => `https://${HOME}:${port}`;

  before(async () => {
    process.env['FARHAND_STATE'] = state;
    const [desk, telemetry] = await freeUdpPorts(2);
    const { config } = loadRig('demo', [
      ...['console.port=0', 'console.https=true', `console.deskPort=${desk}`],
      `console.telemetryPort=${telemetry}`,
    ]);
    const isLocal = (address: string) => address === HOME || address === `::ffff:${HOME}`;
    served = await openConsole(config, { guard: { limits: LIMITS, isLocal } });
    port = Number(new URL(served.url).port);
    openTls();
    cookie = await pair('operator', HEADSET);
  });

  after(async () => {
    flood.stop();
    await served?.close();
    delete process.env['FARHAND_STATE'];
    rmSync(state, { recursive: true, force: true });
  });

  function pair(role: 'operator' | 'viewer', localAddress: string): Promise<string> {
    const { code } = served.pairing.issue(role);
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', localAddress, rejectUnauthorized: false, agent: false };
      https
        .request(`${secure()}api/access/pair`, { ...options, headers: { origin: origin() } }, (response) => {
          response.resume();
          resolve(String(response.headers['set-cookie']).split(';')[0]!);
        })
        .on('error', reject)
        .end(JSON.stringify({ code, name: 'Quest' }));
    });
  }

  it('keeps answering its own browser and a paired device, and closes 1,000 slow connections', async () => {
    const page = new WebSocket(`wss://${HOME}:${port}/ws`, {
      ...{ localAddress: HEADSET, rejectUnauthorized: false, origin: origin(), headers: { cookie } },
    });
    await new Promise((resolve, reject) => page.once('open', resolve).once('error', reject));
    let received = 0;
    page.on('message', () => received++);
    // A quarter from one address, the rest from twenty others.
    for (let i = 0; i < STRANGERS; i++) {
      const from = i % 4 === 0 ? '127.0.0.2' : `127.0.0.${3 + (i % 20)}`;
      flood.start(SLOW[i % SLOW.length]!, port, from);
      if (i % 50 === 0) await sleep(1);
    }
    const tookMs: number[] = [];
    for (let round = 0; round < 20; round++) {
      const [own, paired] = await Promise.all([
        get(`http://localhost:${port}/`, HOME),
        get(`${secure()}api/access`, HEADSET, { cookie }),
      ]);
      assert.deepEqual([own.status, paired.status], [200, 200]);
      assert.match(paired.text, /"role":"operator"/);
      tookMs.push(own.tookMs, paired.tookMs);
      await sleep(100);
    }
    assert.ok(Math.max(...tookMs) < ANSWER_MS, `${Math.max(...tookMs)} ms`);
    await until('unknown clients within their limit', () => flood.open <= LIMITS.strangers, CLOSED_MS);
    await until('all slow connections closed', () => flood.open === 0, CLOSED_MS);
    const before = received;
    await until('the page of the paired device keeps receiving', () => received > before, CLOSED_MS);
    assert.equal(page.readyState, WebSocket.OPEN);
    page.terminate();
  });

  it('closes a WebSocket that does not answer pings, and keeps one that does', async () => {
    const lines = [
      head('GET /ws').trimEnd(),
      ...[`Origin: ${origin()}`, `Cookie: ${cookie}`, 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`, '', ''],
    ];
    const silent = sealed(port, HEADSET);
    let [text, closed] = ['', false];
    silent.on('error', () => {});
    silent.on('data', (data) => {
      text += data.toString('latin1');
    });
    silent.on('close', () => {
      closed = true;
    });
    silent.once('secureConnect', () => silent.write(lines.join('\r\n').replace(HOME, `${HOME}:${port}`)));
    const alive = new WebSocket(`wss://${HOME}:${port}/ws`, {
      ...{ localAddress: HEADSET, rejectUnauthorized: false, origin: origin(), headers: { cookie } },
    });
    let pings = 0;
    alive.on('ping', () => pings++);
    await until('it is open', () => text.includes('101 Switching'), CLOSED_MS);
    await until('it is closed', () => closed, CLOSED_MS);
    await until('the other one was pinged', () => pings > 3, CLOSED_MS);
    assert.equal(alive.readyState, WebSocket.OPEN);
    alive.terminate();
  });

  it('lets an operator in beside a viewer that holds all the WebSockets it can get', async () => {
    const viewer = await pair('viewer', TABLET);
    const held: WebSocket[] = [];
    const open = (from: string, token: string) => {
      const page = new WebSocket(`wss://${HOME}:${port}/ws`, {
        ...{ localAddress: from, rejectUnauthorized: false, origin: origin(), headers: { cookie: token } },
      });
      page.on('error', () => {});
      held.push(page);
      return new Promise<boolean>((resolve) =>
        page.once('open', () => resolve(true)).once('close', () => resolve(false)),
      );
    };
    try {
      for (let i = 0; i < 2 * LIMITS.known; i++)
        await open(i % 2 === 0 ? TABLET : `127.0.0.${210 + i}`, viewer);
      for (const from of [HEADSET, '127.0.0.202']) {
        assert.match((await get(`${secure()}api/access`, from, { cookie })).text, /"role":"operator"/);
        assert.ok(await open(from, cookie), `operator at ${from}`);
      }
    } finally {
      for (const page of held) page.terminate();
    }
  });

  it('forgets every closed connection', async () => {
    for (let i = 0; i < 3 * LIMITS.local; i++)
      assert.equal((await get(`http://localhost:${port}/`, HOME)).status, 200);
    const kept = await get(`${secure()}api/access`, HEADSET, { cookie });
    assert.equal(kept.status, 200);
  });
});

describe('a console with few file descriptors', () => {
  it('is not blocked by 320 unfinished requests', async () => {
    const state = temporaryFolder();
    const [desk, telemetry] = await freeUdpPorts(2);
    process.env['FARHAND_STATE'] = state;
    const child = startFarhand(
      [
        'console',
        '--lan',
        'console.port=0',
        `console.deskPort=${desk}`,
        `console.telemetryPort=${telemetry}`,
      ],
      false,
      ['bash', '-c', 'ulimit -n 300 && exec "$@"', '_'],
    );
    delete process.env['FARHAND_STATE'];
    const flood = new Flood();
    try {
      const url = (await child.waitFor(/console: (http:\S+)/))[1]!;
      const { port } = new URL(url);
      for (let i = 0; i < 320; i++) flood.start(SLOW[1]!, Number(port), '127.0.0.2');
      await sleep(500);
      for (let i = 0; i < 5; i++) assert.equal((await get(url, HOME)).status, 200);
      assert.equal(child.process.exitCode, null);
    } finally {
      flood.stop();
      await child.end();
      rmSync(state, { recursive: true, force: true });
    }
  });
});
