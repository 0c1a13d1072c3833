import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import { sentBy, subjects } from '../../src/fleet/subjects.ts';
import { encodeHello } from '../../src/wire/codecs/desk.ts';
import { type MessageType, TAG_BYTES, writeTag } from '../../src/wire/codecs/frame.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { randomSource } from '../fuzz/datagrams.ts';
import * as examples from '../fuzz/json-examples.ts';
import { hostileTexts, toBytes } from '../fuzz/json-mutations.ts';
import { needs } from '../needs.ts';
import { SEED } from '../seed.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

/** Input that once ended a process. */
const KILLER = '{"toString":1,"valueOf":1}';
const HOST = '127.0.0.1';
const ALIVE_MS = 20_000;
/** Keeps socket buffers from overflowing on a loaded machine. */
const BATCH = 50;

let seeds = SEED;

async function shoot(
  count: number,
  from: readonly object[],
  send: (text: string, bytes: Buffer) => unknown,
): Promise<void> {
  const random = randomSource(seeds++);
  const texts = hostileTexts(from, random);
  for (let i = 0; i < count; i++) {
    const text = texts.next().value as string;
    await send(text, toBytes(text, random));
    if (i % BATCH === 0) await sleep(1);
  }
}

const until = async (what: string, holds: () => boolean) => {
  for (const untilMs = performance.now() + ALIVE_MS; !holds() && performance.now() < untilMs; )
    await sleep(20);
  assert.ok(holds(), what);
};

interface Page {
  socket: WebSocket;
  send(text: string): void;
}

/** A console as seen from the network. */
class Console {
  readonly url: string;
  readonly #agent = new https.Agent({ keepAlive: true, maxSockets: 4, rejectUnauthorized: false });
  cookie = '';

  constructor(url: string) {
    this.url = url;
  }

  async open(): Promise<void> {
    const { cookie } = await this.get();
    this.cookie = cookie;
  }

  get(): Promise<{ status: number; cookie: string }> {
    return new Promise((resolve, reject) => {
      http
        .get(this.url, { agent: false, timeout: ALIVE_MS }, (response) => {
          response.resume();
          const cookie = String(response.headers['set-cookie'] ?? '').split(';')[0]!;
          response.on('end', () => resolve({ status: response.statusCode ?? 0, cookie }));
        })
        .on('error', reject);
    });
  }

  /** Over TLS, as from the network. Returns the status; 0: it hung up. */
  post(where: string, body: string | Buffer, token = ''): Promise<number> {
    const url = new URL(where, this.url.replace('http:', 'https:').replace('localhost', HOST));
    return new Promise((resolve) => {
      const headers = { origin: url.origin, ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
      const request = https.request(url, { method: 'POST', headers, agent: this.#agent }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      request.on('error', () => resolve(0));
      request.end(body);
    });
  }

  async page(where: string): Promise<Page> {
    const { origin } = new URL(this.url);
    const url = this.url.replace('http', 'ws') + where;
    const socket = new WebSocket(url, { origin, headers: { cookie: this.cookie } });
    socket.on('error', () => {});
    await once(socket, 'message');
    return { socket, send: (text) => socket.readyState === WebSocket.OPEN && socket.send(text) };
  }

  close(): void {
    this.#agent.destroy();
  }
}

const ended = (children: Running[]) =>
  children.filter((child) => child.process.exitCode !== null || child.process.signalCode !== null);

function assertAlive(children: Running[]): void {
  const reported = ended(children).map((child) => `${child.process.spawnargs.join(' ')}\n${child.stderr()}`);
  assert.deepEqual(reported, [], 'every process is alive');
}

describe(`hostile JSON over real sockets, seed ${SEED}`, () => {
  const state = temporaryFolder();
  const children: Running[] = [];
  let served: Console;
  let udp: Socket;
  let [command, sync, robotState, desk, telemetry]: number[] = [];

  const start = (args: string[]) => {
    process.env['FARHAND_STATE'] = state;
    const child = startFarhand(args);
    delete process.env['FARHAND_STATE'];
    children.push(child);
    return child;
  };
  const send = (port: number, bytes: Uint8Array) =>
    new Promise<void>((resolve) => udp.send(bytes, port, HOST, () => resolve()));
  const frame = (type: MessageType, bytes: Uint8Array) => {
    const out = new Uint8Array(TAG_BYTES + bytes.length);
    writeTag(type, out);
    out.set(bytes, TAG_BYTES);
    return out.subarray(0, 1472);
  };
  const killerFrame = (type: MessageType, text: string) => frame(type, Buffer.from(text));

  before(async () => {
    [command, robotState, sync, desk, telemetry] = await freeUdpPorts(5);
    const settings = [
      ...[`link.commandPort=${command}`, `link.statePort=${robotState}`, `link.syncPort=${sync}`],
      ...[`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`, 'link.security=plain'],
      ...['trace.dir=', `record.dir=${path.join(state, 'recordings')}`, 'robot.commandTimeoutMs=500'],
    ];
    udp = createSocket('udp4');
    udp.bind(0, HOST);
    await once(udp, 'listening');
    start(['robot', ...settings]);
    start(['operator', ...settings]);
    const child = start(['console', '--lan', 'console.port=0', ...settings]);
    served = new Console((await child.waitFor(/console: (http:\S+)/))[1]!);
    await served.open();
    await connected();
  });

  after(async () => {
    served?.close();
    udp?.close();
    await Promise.all(children.map((child) => child.end()));
    rmSync(state, { recursive: true, force: true });
  });

  /** The operator publishes, and is connected to the robot. On its own socket: replies to probes arrive at the other. */
  async function connected(): Promise<void> {
    let isConnected = false;
    const own = createSocket('udp4').bind(0, HOST);
    await once(own, 'listening');
    const listen = (data: Buffer) => {
      isConnected ||= (JSON.parse(data.toString()) as { link: { connected: boolean } }).link.connected;
    };
    own.on('message', listen);
    const hello = new Uint8Array(64);
    const length = encodeHello(1, hello);
    const timer = setInterval(() => own.send(hello.slice(0, length), telemetry!, HOST), 200);
    try {
      await until('the operator and its robot answer', () => isConnected);
    } finally {
      clearInterval(timer);
      own.close();
    }
  }

  async function assertAnswers(): Promise<void> {
    assertAlive(children);
    assert.equal((await served.get()).status, 200);
    (await served.page('ws')).socket.terminate();
    await connected();
    assertAlive(children);
  }

  it('survives what once killed the console, without a token, from the network', async () => {
    assert.equal(await served.post('api/access/pair', `{"code":${KILLER}}`), 403);
    assert.equal(await served.post('api/access/pair', `{"code":"1","name":${KILLER}}`), 403);
    await assertAnswers();
  });

  it('survives what once killed the console on a page’s socket, and the operator behind it', async () => {
    const page = await served.page('ws');
    page.send(`{"kind":${KILLER}}`);
    page.send(`{"kind":"input","name":${KILLER}}`);
    await send(desk!, killerFrame('request', `{"kind":"input","name":${KILLER}}`));
    await send(desk!, killerFrame('request', `{"kind":${KILLER}}`));
    await sleep(300);
    page.socket.terminate();
    await assertAnswers();
  });

  it('survives thousands of mutations of everything a page and a browser send', async () => {
    const bodies: [string, object][] = [
      ['api/access/pair', { code: '123456', name: 'Quest' }],
      ['api/access/code', { role: 'viewer' }],
      ['api/access/forget', { id: '00000000' }],
      ['api/export', { name: 'set' }],
      ['api/devices', {}],
    ];
    const token = served.cookie.split('=')[1]!;
    assert.equal(await served.post('api/access/code', '{"role":"viewer"}', token), 200, 'as an operator');
    for (const [where, body] of bodies)
      await shoot(100, [body], (_, bytes) => served.post(where, bytes, token));
    const page = await served.page('ws');
    await shoot(4000, examples.PAGE_REQUESTS, (text) => page.send(text));
    assert.equal(page.socket.readyState, WebSocket.OPEN, 'no handler failed');
    page.socket.terminate();
    await assertAnswers();
  });

  it('survives thousands of mutated datagrams to operator and robot', async () => {
    await shoot(3000, examples.DESK_ACTIONS, (_, bytes) => send(desk!, frame('request', bytes)));
    await shoot(1500, examples.HANDS, (_, bytes) => send(desk!, frame('hand', bytes)));
    const side = [...examples.RECORDINGS, examples.VIDEO];
    await shoot(1500, side, (_, bytes) => send(telemetry!, frame('request', bytes)));
    const hello = { session: 7, quality: 'smooth', cap_ms: 40 };
    await shoot(1000, [hello], (_, bytes) => send(robotState!, frame('hello', bytes)));
    await shoot(1000, [{ id: 1, t0: 1 }], (_, bytes) => send(sync!, frame('probe', bytes)));
    const arm = { session: 7, request: 1, action: 'arm', epoch: 0 };
    await shoot(1000, [arm], (_, bytes) => send(command!, frame('desk', bytes)));
    await assertAnswers();
  });
});

describe(`hostile JSON in a fleet, seed ${SEED}`, { skip: needs('nats-server') }, () => {
  const folder = temporaryFolder();
  const children: Running[] = [];
  let world: FleetWorld;
  let robot: FleetConnection;
  let bob: FleetConnection;
  let served: Console;

  before(async () => {
    world = await startFleetWorld(folder);
    robot = await world.enter('arm', 'robot', ['arm']);
    bob = await world.enter('bob', 'operator', ['*']);
    process.env['FARHAND_STATE'] = path.join(folder, 'ann');
    const file = await world.credentials('ann', 'operator', ['*']);
    const { server } = world;
    children.push(startFarhand(['fleet', 'console', '--server', server.url, '--creds', file, '--port', '0']));
    delete process.env['FARHAND_STATE'];
    served = new Console((await children[0]!.waitFor(/fleet console: (http:\S+)/))[1]!);
    await served.open();
  });

  after(async () => {
    served?.close();
    await Promise.all(children.map((child) => child.end()));
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('does not end its console: from pages, from robots or from other operators', async () => {
    const page = await served.page('fleet');
    page.send(`{"kind":${KILLER}}`);
    page.send(`{"kind":"estop","id":1,"robot":${KILLER}}`);
    await shoot(1000, examples.FLEET_REQUESTS, (text) => page.send(text));
    await shoot(1000, examples.FLEET_MESSAGES, (_, bytes) =>
      robot.nats.publish(subjects.presence('arm'), bytes),
    );
    await shoot(500, examples.FLEET_MESSAGES, (_, bytes) =>
      bob.nats.publish(subjects.ask('arm', 'bob'), bytes),
    );
    const { services } = world;
    await shoot(500, examples.FLEET_MESSAGES, (_, bytes) => {
      bob.nats.publish(subjects.lease('take', 'arm', 'bob'), bytes);
      bob.nats.publish(subjects.recording('put', 'arm', 'bob'), bytes);
      bob.nats.publish(subjects.log('arm', 'bob'), bytes);
    });
    await Promise.all([robot.nats.flush(), bob.nats.flush()]);
    // The services still answer. A valid request of the page may have taken the lease; nobody else can.
    const lease = await world.leases.look('arm');
    assert.ok(lease === null || lease.user === 'ann', JSON.stringify(lease));
    assert.equal(services.connection.isConnected(), true);
    await sleep(300);
    assertAlive(children);
    assert.equal((await served.get()).status, 200);
    (await served.page('fleet')).socket.terminate();
    page.socket.terminate();
    assertAlive(children);
  });

  it('reports an e-stop as not confirmed when its answer is invalid', async () => {
    robot.nats.subscribe(subjects.estop('arm', '*'), {
      callback: (_, message) => {
        const { id } = message.json<{ id: string }>();
        const { user } = sentBy(message.subject);
        robot.nats.publish(subjects.answer(user, 'robot', 'arm', id), `{"state":${KILLER}}`);
      },
    });
    await robot.nats.flush();
    const page = await served.page('fleet');
    const replies: string[] = [];
    page.socket.on('message', (data) => replies.push(String(data)));
    page.send('{"kind":"estop","id":7,"robot":"arm"}');
    await until('answered', () => replies.some((text) => /"id":7.*not confirmed/.test(text)));
    page.socket.terminate();
    assertAlive(children);
  });
});
