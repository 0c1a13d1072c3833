import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { openConsole } from '../../src/app/open-console.ts';
import { openTls } from '../../src/console/ca.ts';
import { consoleFolder } from '../../src/console/private-file.ts';
import type { ConsoleHandle } from '../../src/console/server.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { emptyXr, encodeXr, XR_ENVELOPE_BYTES } from '../../src/input/codecs/webxr-codec.ts';
import { loadRig } from '../../src/rig/rig.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { launchChromium } from './chromium.ts';
import { root } from './farhand.ts';

const artifacts = path.join(root, 'artifacts');

type Json = Record<string, unknown>;

const OPEN_HAND = { kind: 'hand', positionM: [0, 1, 0], quatXyzw: [0, 0, 0, 1], gripper: 0, clutch: false };

/** A page without a browser: sends what the test wants, and keeps what it receives. */
class Visitor {
  readonly received: Json[] = [];
  readonly socket: WebSocket;

  constructor(url: string, ca: string, cookie: string) {
    const origin = url.replace(/\/$/, '');
    this.socket = new WebSocket(`${url.replace(/^http/, 'ws')}ws`, { ca, origin, headers: { cookie } });
    this.socket.on('error', () => {});
    this.socket.on('message', (data) => this.received.push(JSON.parse(String(data)) as Json));
  }

  send(message: Json): void {
    this.socket.send(JSON.stringify(message));
  }

  /** The first matching message, already received or yet to come. */
  async receive(fits: (message: Json) => boolean): Promise<Json> {
    for (let i = 0; i < 200; i++) {
      const found = this.received.find(fits);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.fail(`not received; only ${JSON.stringify(this.received.slice(-5))}`);
  }

  async control(): Promise<Json> {
    return this.receive((message) => message['kind'] === 'access');
  }

  async refused(request: string): Promise<unknown> {
    return (await this.receive((message) => message['kind'] === 'refused' && message['request'] === request))[
      'reason'
    ];
  }

  forget(): void {
    this.received.length = 0;
  }
}

describe('console on the network', () => {
  let console_: ConsoleHandle;
  let ca: string;
  let desk: Socket;
  let url: string;
  const forwarded: { type: string; body: Buffer }[] = [];
  const open: Visitor[] = [];

  const asked = (kind: string) =>
    forwarded.filter(({ type, body }) => type === 'u' && (JSON.parse(String(body)) as Json)['kind'] === kind)
      .length;
  const until = async (what: string, holds: () => boolean) => {
    for (let i = 0; i < 200 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(holds(), what);
  };
  const request = (method: string, where: string, headers: Record<string, string> = {}, body = '') =>
    new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>((resolve, reject) => {
      const module = url.startsWith('https') && !where.startsWith('http:') ? https : http;
      const target = where.startsWith('http') ? where : new URL(where, url).href;
      module
        .request(
          target,
          { method, headers: { origin: url.replace(/\/$/, ''), ...headers }, ca },
          async (response) => {
            let text = '';
            for await (const chunk of response) text += String(chunk);
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
          },
        )
        .on('error', reject)
        .end(body);
    });
  const pair = async (code: string, name = 'Quest') => {
    const answer = await request('POST', 'api/access/pair', {}, JSON.stringify({ code, name }));
    return { ...answer, cookie: String(answer.headers['set-cookie'] ?? '').split(';')[0]! };
  };
  const paired = async (role: 'operator' | 'viewer', name: string) =>
    (await pair(console_.pairing.issue(role).code, name)).cookie;
  const visit = async (cookie: string) => {
    const visitor = new Visitor(url, ca, cookie);
    open.push(visitor);
    await visitor.control();
    return visitor;
  };

  before(async () => {
    process.env['FARHAND_STATE'] = temporaryFolder();
    desk = createSocket('udp4');
    desk.bind(0, '127.0.0.1');
    await once(desk, 'listening');
    desk.on('message', (bytes) => {
      const type = String.fromCharCode(bytes[3]!);
      // The console asks for telemetry here too.
      if (type !== 'h') forwarded.push({ type, body: Buffer.from(bytes.subarray(4)) });
    });
    const { config } = loadRig('demo', [
      ...['console.port=0', 'console.https=true', 'console.trustLocal=false'],
      ...['deskPort', 'telemetryPort'].map((key) => `console.${key}=${(desk.address() as AddressInfo).port}`),
    ]);
    console_ = await openConsole(config);
    url = console_.url;
    ca = openTls().ca;
  });

  after(async () => {
    for (const { socket } of open) socket.terminate();
    await console_?.close();
    desk?.close();
  });

  it('serves TLS with a certificate of its own authority', async () => {
    assert.match(url, /^https:/);
    const page = await request('GET', '');
    assert.equal(page.status, 200);
    assert.equal(page.headers['set-cookie'], undefined, 'no token without pairing');
    await assert.rejects(
      new Promise((_, reject) => https.get(url, () => reject(new Error('trusted'))).on('error', reject)),
      /self-signed|unable to/,
    );
  });

  it('serves only the trust page over plain HTTP on the same port', async () => {
    const plain = url.replace('https:', 'http:');
    for (const where of ['', 'index.html', 'vr', 'api/access', 'api/episodes']) {
      const page = await request('GET', plain + where);
      assert.deepEqual([page.status, /trust/i.test(page.text)], [200, true], where);
    }
    const authority = JSON.parse((await request('GET', `${plain}authority.json`)).text) as Json;
    assert.equal(authority['fingerprint'], console_.lan?.fingerprint);
    assert.equal(
      (await request('GET', `${plain}farhand-ca.crt`)).headers['content-type'],
      'application/x-x509-ca-cert',
    );
    const socket = new WebSocket(`${plain.replace('http', 'ws')}ws`);
    const [error] = await once(socket, 'error');
    assert.ok(error instanceof Error);
  });

  it('rejects requests without a token', async () => {
    const access = JSON.parse((await request('GET', 'api/access')).text) as Json;
    assert.equal(access['role'], null);
    assert.equal((await request('POST', 'api/access/code', {}, '{"role":"operator"}')).status, 403);
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}ws`, { ca, origin: url.replace(/\/$/, '') });
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage];
    assert.equal(response.statusCode, 401);
  });

  it('pairs with a code once, over HTTPS and from its own page only', async () => {
    const { code } = console_.pairing.issue('operator');
    const wrong = String((Number(code) + 1) % 1e6).padStart(6, '0');
    assert.deepEqual(JSON.parse((await pair(wrong)).text), { reason: 'wrong-code' });
    const foreign = { origin: 'https://evil.example' };
    const stolen = await request('POST', 'api/access/pair', foreign, JSON.stringify({ code }));
    assert.deepEqual(JSON.parse(stolen.text), { reason: 'not-allowed' });
    const right = await pair(code, 'Quest\u0007 3');
    assert.deepEqual(right.status, 200);
    assert.match(String(right.headers['set-cookie']), /HttpOnly; SameSite=Strict; Max-Age=\d+; Secure/);
    assert.deepEqual(JSON.parse((await pair(code)).text), { reason: 'no-code' });
    const event = JSON.parse((await request('GET', 'api/access', { cookie: right.cookie })).text) as Json;
    assert.deepEqual([event['role'], event['name']], ['operator', 'Quest 3']);
    assert.ok(!JSON.stringify(event).includes('tokenHash'));
  });

  it('has one operator in control; a takeover needs a request and holds the robot', async () => {
    const desktop = await visit(await paired('operator', 'Desktop'));
    const headset = await visit(await paired('operator', 'Headset'));
    desktop.send({ kind: 'arm' });
    await until('arm', () => asked('arm') === 1);
    await headset.receive((message) => message['holder'] === 'Desktop' && message['inControl'] === false);
    headset.send({ kind: 'arm' });
    assert.equal(await headset.refused('arm'), 'not-in-control');
    headset.send({ kind: 'nonsense' });
    assert.equal(await headset.refused('nonsense'), 'malformed');
    headset.send(OPEN_HAND);
    assert.equal(await headset.refused('hand'), 'not-in-control');
    headset.send({ kind: 'control', action: 'claim' });
    assert.equal(await headset.refused('control'), 'not-in-control');
    assert.deepEqual([asked('arm'), asked('hold')], [1, 0]);
    desktop.forget();
    headset.send({ kind: 'control', action: 'take' });
    await headset.receive((message) => message['inControl'] === true);
    await desktop.receive((message) => message['holder'] === 'Headset');
    await until('hold', () => asked('hold') === 1);
    desktop.send({ kind: 'disarm' });
    assert.equal(await desktop.refused('disarm'), 'not-in-control');
    // The holder leaves: control is free, and another device that acts makes the robot hold first.
    headset.socket.close();
    await desktop.receive((message) => message['holder'] === null);
    desktop.send({ kind: 'home' });
    await until('home', () => asked('home') === 1);
    assert.equal(asked('hold'), 2);
    desktop.socket.close();
  });

  it('takes control from a silent holder', async () => {
    const desktop = await visit(await paired('operator', 'Desktop'));
    const headset = await visit(await paired('operator', 'Headset'));
    desktop.send({ kind: 'control', action: 'claim' });
    await headset.receive((message) => message['holder'] === 'Desktop');
    headset.forget();
    // This visitor answers no probe, so it counts as gone after three seconds.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await headset.receive((message) => message['kind'] === 'access' && message['holder'] === null);
    desktop.socket.close();
    headset.socket.close();
  });

  it('lets a viewer watch and stop, nothing else', async () => {
    const viewer = await visit(await paired('viewer', 'Phone'));
    const before = forwarded.length;
    for (const kind of ['arm', 'reset', 'home', 'input', 'hand', 'control']) {
      viewer.send({ kind, clutch: true, action: 'take', name: 'page' });
      assert.equal(await viewer.refused(kind), 'viewer');
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const hands = new Uint8Array(800);
    viewer.socket.send(hands.subarray(0, encodeXr({ ...emptyXr(), visible: true }, hands)));
    assert.equal(await viewer.refused('hands'), 'viewer');
    assert.equal(forwarded.length, before);
    assert.equal((await request('POST', 'api/access/code', {}, '{"role":"viewer"}')).status, 403);
    viewer.send({ kind: 'estop' });
    await until('estop', () => asked('estop') === 1);
    viewer.socket.send(hands.subarray(0, encodeXr({ ...emptyXr(), estop: true }, hands)));
    await until('estop by hand', () => asked('estop') === 2);
    viewer.socket.close();
  });

  it('forwards packets with operator clock stamps after clock sync', async () => {
    const headset = await visit(await paired('operator', 'Headset'));
    headset.send({ kind: 'control', action: 'claim' });
    await headset.receive((message) => message['inControl'] === true);
    const probe = await headset.receive((message) => message['kind'] === 'probe');
    // A page clock that is five seconds ahead.
    const page = Number(process.hrtime.bigint()) + 5e9;
    headset.send({ kind: 'probed', t0: probe['t0'], t1: page, t2: page });
    await headset.receive((message) => message['kind'] === 'path' && message['rttMs'] !== null);
    const packet = new Uint8Array(800);
    const takenPageNs = Number(process.hrtime.bigint()) + 5e9;
    const length = encodeXr({ ...emptyXr(), takenPageNs, sentPageNs: takenPageNs + 2e6 }, packet);
    const before = forwarded.filter(({ type }) => type === 'v').length;
    headset.socket.send(packet.subarray(0, length));
    await until('hands', () => forwarded.filter(({ type }) => type === 'v').length > before);
    const { body } = forwarded.findLast(({ type }) => type === 'v')!;
    assert.equal(body.length, XR_ENVELOPE_BYTES + length);
    // Off by half the round trip at most; five seconds would be the page's own clock.
    const errorMs = (body.readDoubleLE(0) - (takenPageNs - 5e9)) / 1e6;
    assert.ok(Math.abs(errorMs) < 2000, `${errorMs} ms off`);
    assert.ok(Math.abs(body.readDoubleLE(8) - body.readDoubleLE(0) - 2e6) < 1e3);
    headset.socket.close();
  });

  it('survives garbage from a page without motion', async () => {
    const page = await visit(await paired('operator', 'Fuzzer'));
    const before = forwarded.length;
    const odd = fc.oneof(
      fc.uint8Array({ maxLength: 900 }),
      fc.json(),
      fc.string(),
      fc
        .record({
          kind: fc.constantFrom('probed', 'rtc', 'control', 'rtc-start'),
          t0: fc.anything(),
          signal: fc.json(),
        })
        .map((message) => JSON.stringify(message)),
    );
    fc.assert(
      fc.property(odd, (data) => {
        // A mutation may happen to be an e-stop, which is forwarded, as it should be.
        if (typeof data !== 'string' && data[0] === 0x58 && data[1] === 0x52) return;
        page.socket.send(data);
      }),
      { numRuns: 300 },
    );
    page.forget();
    page.send({ kind: 'control', action: 'claim' });
    await page.receive((message) => message['inControl'] === true);
    assert.deepEqual(
      forwarded.slice(before).filter(({ type }) => type === 'v'),
      [],
    );
    page.socket.close();
  });

  it('disconnects a forgotten device', async () => {
    const headset = await visit(await paired('operator', 'Lost headset'));
    const admin = { cookie: await paired('operator', 'Admin') };
    const event = JSON.parse((await request('GET', 'api/access', admin)).text) as {
      devices: { id: string; name: string }[];
    };
    const { id } = event.devices.find(({ name }) => name === 'Lost headset')!;
    const closed = once(headset.socket, 'close');
    assert.equal((await request('POST', 'api/access/forget', admin, JSON.stringify({ id }))).status, 200);
    const [code] = await closed;
    assert.equal(code, 4001);
  });

  it('shows trust and pairing pages in a real browser', { skip: needs('chromium') }, async () => {
    const browser = await launchChromium();
    try {
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        viewport: { width: 900, height: 900 },
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(String(error)));
      mkdirSync(artifacts, { recursive: true });
      await page.goto(url.replace('https:', 'http:'));
      await page.getByTestId('fingerprint').filter({ hasText: console_.lan!.fingerprint }).waitFor();
      assert.equal(await page.getByTestId('qr').locator('svg').count(), 1);
      await page.screenshot({ path: path.join(artifacts, 'trust.png') });
      assert.equal(await page.getByTestId('secure').getAttribute('href'), url);

      await page.goto(url);
      await page.getByTestId('banner').filter({ hasText: 'not paired' }).waitFor();
      assert.ok(await page.getByTestId('banner-pair').isVisible());
      await page.goto(`${url}vr`);
      await page.getByTestId('why').filter({ hasText: 'not paired' }).waitFor();
      await page.goto(`${url}#/record`);
      await page.getByTestId('banner-pair').click();
      const { code } = console_.pairing.issue('operator');
      await page.getByTestId('code').fill(String((Number(code) + 1) % 1e6).padStart(6, '0'));
      await page.getByTestId('pair').click();
      await page.getByTestId('said').filter({ hasText: 'Wrong code' }).waitFor();
      await page.getByTestId('code').fill(code);
      await page.getByTestId('name').fill('Quest 3');
      await page.screenshot({ path: path.join(artifacts, 'pair-enter.png') });
      await page.getByTestId('pair').click();
      // Back to where the visitor was.
      await page.waitForURL(`${url}#/record`);
      await page.goto(`${url}pair`);
      await page.getByTestId('offer-viewer').click();
      const shown =
        (await page
          .getByTestId('shown-code')
          .filter({ hasText: /\d{3} \d{3}/ })
          .textContent()) ?? '';
      assert.equal(shown.replace(' ', ''), console_.pairing.current?.code);
      assert.equal(await page.getByTestId('qr').locator('svg').count(), 1);
      await page.screenshot({ path: path.join(artifacts, 'pair-offer.png') });
      assert.deepEqual(complaints, []);
    } finally {
      await browser.close();
    }
  });

  it('rejects foreign host names and protects its key files', async () => {
    const foreign = { host: 'evil.example' };
    assert.equal((await request('GET', url.replace('https:', 'http:'), foreign)).status, 403);
    assert.equal(path.basename(consoleFolder()), 'console');
  });
});

describe('console on the network without HTTPS', () => {
  it('does not start', async () => {
    const { config } = loadRig('demo', ['console.port=0', 'console.host=0.0.0.0']);
    await assert.rejects(
      openConsole(config),
      (error) => error instanceof TeleopError && error.code === 'not-loopback',
    );
  });
});
