import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { createAudit, readAudit } from '../../src/app/fleet/audit.ts';
import { type Authority, createAuthority, issue } from '../../src/app/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/app/fleet/connection.ts';
import { LeaseStore } from '../../src/app/fleet/lease-store.ts';
import { createRecordingBucket, RecordingIndex } from '../../src/app/fleet/recordings/recording-index.ts';
import { roster } from '../../src/app/fleet/roster.ts';
import { type RunningServer, startServer } from '../../src/app/fleet/server-process.ts';
import { freeUdpPorts } from '../../src/app/free-ports.ts';
import type { Presence } from '../../src/fleet/messages.ts';
import { type FleetRole, subjects } from '../../src/fleet/subjects.ts';
import { launchChromium, noChromium } from './chromium.ts';
import { type Running, root, startFarhand, temporaryFolder } from './farhand.ts';

const missing = spawnSync('nats-server', ['--version']).status !== 0;
const skip = missing && process.env['CI'] !== 'true' ? 'nats-server is not installed' : noChromium;
const artifacts = path.join(root, 'artifacts');
const MADE_UP = Array.from({ length: 40 }, (_, i) => `hall-${String(i + 1).padStart(2, '0')}`);
const STATES = ['engaged', 'idle', 'armed', 'hold', 'stopped', 'idle', 'disconnected', 'idle'];
const SLOW_MS = 15_000;

describe('a fleet in the browser', { skip }, () => {
  let authority: Authority;
  let server: RunningServer;
  let admin: FleetConnection;
  let hall: FleetConnection;
  let telling: NodeJS.Timeout;
  const silent: readonly string[] = [];
  let browser: Browser;
  let ann: Page;
  let bob: Page;
  let annUrl = '';
  let bobUrl = '';
  const folder = temporaryFolder();
  const running: Running[] = [];
  const complaints: string[] = [];

  const credentials = async (name: string, role: FleetRole, robots: readonly string[]) => {
    const file = path.join(folder, `${name}.creds`);
    const text = await issue(authority, { name, role, robots, seconds: 3600 }, Date.now() / 1000);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const start = (args: string[], state: string) => {
    process.env['FARHAND_STATE'] = path.join(folder, state);
    const child = startFarhand(args);
    delete process.env['FARHAND_STATE'];
    running.push(child);
    return child;
  };
  const openConsole = async (user: string) => {
    const file = await credentials(user, 'operator', ['*']);
    const child = start(['fleet', 'console', '--server', server.url, '--creds', file, '--port', '0'], user);
    return (await child.waitFor(/fleet console: (http:\S+)/))[1]!;
  };
  const openPage = async (url: string) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(url);
    return page;
  };
  const text = async (page: Page, id: string) => (await page.getByTestId(id).textContent()) ?? '';
  const seen = async (page: Page, id: string, pattern: RegExp, withinMs = SLOW_MS) => {
    let last = '';
    for (const untilMs = performance.now() + withinMs; performance.now() < untilMs; await sleep(50)) {
      last = (await page.getByTestId(id).count()) === 1 ? await text(page, id) : '(not there)';
      if (pattern.test(last)) return last;
    }
    throw new Error(`${id} is "${last}", not ${pattern}`);
  };
  const tellHall = () => {
    for (const [i, robot] of MADE_UP.entries()) {
      if (silent.includes(robot)) continue;
      const state = STATES[i % STATES.length]!;
      const link = { rttMs: 8 + i * 7, fromOperatorHz: i % 5 === 0 ? 22 : 100, toOperatorHz: 100 };
      const driven = state === 'engaged' || state === 'hold';
      const presence: Presence = {
        ...{ kind: 'presence', robot, model: i % 3 === 0 ? 'so101' : 'ur3', version: '0.9.0', state },
        ...{ cause: state === 'stopped' ? 'e-stop over the link' : 'as asked', atMs: Date.now() },
        ...{ holder: driven ? ['cleo', 'dan'][i % 2]! : null, link: driven ? link : null },
      };
      hall.nats.publish(subjects.presence(robot), JSON.stringify(presence));
    }
  };

  before(async () => {
    mkdirSync(artifacts, { recursive: true });
    authority = await createAuthority(path.join(folder, 'fleet'));
    const [port = 0] = await freeUdpPorts(1);
    server = await startServer(authority, { name: 'one', host: '127.0.0.1', port });
    const [arm, root_, hallFile] = await Promise.all([
      credentials('arm', 'robot', ['arm']),
      credentials('root', 'admin', ['*']),
      credentials('hall', 'robot', MADE_UP),
    ]);
    admin = await connectFleet(server.url, root_);
    await LeaseStore.create(admin.nats);
    await createAudit(admin.nats);
    hall = await connectFleet(server.url, hallFile);
    telling = setInterval(tellHall, 1000);
    start(
      ['robot', '--fleet', server.url, '--creds', arm, 'fleet.rtcAddress=127.0.0.1', 'trace.dir='],
      'robot',
    );
    [annUrl, bobUrl, browser] = await Promise.all([openConsole('ann'), openConsole('bob'), launchChromium()]);
    [ann, bob] = [await openPage(annUrl), await openPage(bobUrl)];
    await running[0]!.waitFor(/on the fleet/);
  });

  after(async () => {
    clearInterval(telling);
    await browser?.close();
    await Promise.all(running.map((child) => child.end()));
    await Promise.all([admin?.close(), hall?.close()]);
    await server?.close();
  });

  it('lists who is there, and finds them by name, model, state and driver', async () => {
    await seen(ann, 'fleet-summary', /^41 of 41 robots there/);
    await seen(ann, 'state-arm', /idle/);
    assert.equal(await ann.getByTestId('fleet-map').locator('i').count(), 41);
    await seen(ann, 'tone-engaged', /^5/);
    const shownRows = () => ann.getByTestId('fleet-list').locator('li').count();
    assert.ok((await shownRows()) < 30, `${await shownRows()} rows in the document`);
    const search = ann.getByTestId('fleet-search');
    for (const [words, rows] of [
      ['hall-07', 1],
      ['so101 stopped', 2],
      ['cleo', 10],
      ['nothing like it', 0],
    ] as const) {
      await search.fill(words);
      for (let i = 0; i < 60 && (await shownRows()) !== rows; i++) await sleep(50);
      assert.equal(await shownRows(), rows, words);
    }
    await search.fill('');
    await ann.getByTestId('tone-stopped').click();
    for (let i = 0; i < 60 && (await shownRows()) !== 5; i++) await sleep(50);
    assert.equal(await shownRows(), 5);
    await ann.getByTestId('tone-stopped').click();
  });
});
