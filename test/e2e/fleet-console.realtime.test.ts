import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import type { WebSocket } from 'ws';
import { readAudit } from '../../src/fleet/audit.ts';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import type { Presence } from '../../src/fleet/messages.ts';
import { RecordingIndex } from '../../src/fleet/recordings/recording-index.ts';
import { roster } from '../../src/fleet/roster/listen-for-robots.ts';
import { createRecordingBucket } from '../../src/fleet/store/recording-store.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import type { FleetMessage, FleetReply, FleetState } from '../../src/messages/fleet-console.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { expectAccessible } from './accessible.ts';
import { launchChromium } from './chromium.ts';
import { callersOf, strangers } from './console-callers.ts';
import { type Running, root, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server', 'chromium');
const noSound = needs('ffmpeg');
const artifacts = path.join(root, 'artifacts');
const SIMULATED = Array.from({ length: 40 }, (_, i) => `hall-${String(i + 1).padStart(2, '0')}`);
const STATES = ['engaged', 'idle', 'armed', 'hold', 'stopped', 'idle', 'disconnected', 'idle'];
const SLOW_MS = 75_000;

// Chromium and every session's process start on a machine that may be busy.
describe('fleet console in a real browser', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  let hall: FleetConnection;
  let announcing: NodeJS.Timeout;
  let silent: readonly string[] = [];
  let browser: Browser;
  let ann: Page;
  let bob: Page;
  let annUrl = '';
  let bobUrl = '';
  const folder = temporaryFolder();
  const running: Running[] = [];
  const complaints: string[] = [];

  const start = (args: string[], state: string) => {
    process.env['FARHAND_STATE'] = path.join(folder, state);
    const child = startFarhand(args);
    delete process.env['FARHAND_STATE'];
    running.push(child);
    return child;
  };
  const openConsole = async (user: string) => {
    const file = await world.credentials(user, 'operator', ['*']);
    const child = start(
      ['fleet', 'console', '--server', world.server.url, '--creds', file, '--port', '0'],
      user,
    );
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
    const why = (await page.getByTestId('why').count()) === 1 ? await text(page, 'why') : '';
    throw new Error(
      `${id} is "${last}", not ${pattern}. ${why} ${complaints.join('; ')}\n${running[0]?.stdout()}${running[0]?.stderr()}`,
    );
  };
  const announceHall = () => {
    for (const [i, robot] of SIMULATED.entries()) {
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
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot', ['arm']);
    hall = await world.enter('hall', 'robot', SIMULATED);
    announcing = setInterval(announceHall, 1000);
    const settings = [
      // A busy machine stalls. This tests the page, not the watchdogs.
      ...[
        'robot.commandTimeoutMs=500',
        'robot.feedbackTimeoutMs=1000',
        'operator.inputs.page.staleAfterMs=1000',
      ],
      `record.dir=${path.join(folder, 'recordings')}`,
      ...['fleet.rtcAddress=127.0.0.1', 'trace.dir=', 'cameras.list.front.fpsHz=10'],
      ...['cameras.list.front.widthPx=160', 'cameras.list.front.heightPx=120'],
      `cameras.port=${(await freeUdpPorts(1))[0]!}`,
      ...(noSound ? [] : ['fleet.audio=test']),
    ];
    start(['robot', '--fleet', world.server.url, '--creds', arm, ...settings], 'robot');
    [annUrl, bobUrl, browser] = await Promise.all([openConsole('ann'), openConsole('bob'), launchChromium()]);
    [ann, bob] = [await openPage(annUrl), await openPage(bobUrl)];
    await running[0]!.waitFor(/on the fleet/);
  });

  after(async () => {
    clearInterval(announcing);
    await browser?.close();
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
  });

  it('lists robots and searches by name, model, state and user', async () => {
    await seen(ann, 'fleet-summary', /^41 of 41 robots online/);
    await seen(ann, 'state-arm', /no operator/);
    assert.equal(await ann.getByTestId('fleet-map').locator('i').count(), 41);
    await seen(ann, 'tone-engaged', /^5/);
    const shownRows = () => ann.getByTestId('fleet-list').locator('li').count();
    assert.ok((await shownRows()) < 30, `${await shownRows()} rows in the document`);
    const search = ann.getByTestId('fleet-search');
    for (const [query, rows] of [
      ['hall-07', 1],
      ['so101 stopped', 2],
      ['cleo', 5],
      ['nothing like it', 0],
    ] as const) {
      await search.fill(query);
      for (let i = 0; i < 600 && (await shownRows()) !== rows; i++) await sleep(50);
      assert.equal(await shownRows(), rows, query);
    }
    await search.fill('');
    await ann.getByTestId('tone-stopped').click();
    for (let i = 0; i < 600 && (await shownRows()) !== 5; i++) await sleep(50);
    assert.equal(await shownRows(), 5);
    await ann.getByTestId('tone-stopped').click();
  });

  it('stops a robot from the list and shows its confirmation', async () => {
    await ann.getByTestId('fleet-search').fill('arm');
    await ann.getByTestId('estop-arm').click();
    await seen(ann, 'estop-arm', /STOPPED.*in \d+ ms/);
    await seen(ann, 'state-arm', /stopped/);
    assert.equal((await roster(world.boss, 'arm'))[0]?.state, 'stopped');
    // A robot that does not answer is not shown as stopped.
    await ann.getByTestId('fleet-search').fill('hall-01');
    await ann.getByTestId('estop-hall-01').click();
    await seen(ann, 'estop-hall-01', /not stopped/);
    await ann.getByTestId('fleet-search').fill('arm');
  });

  it('hands a robot over between two consoles', async () => {
    silent = ['hall-03'];
    await bob.getByTestId('fleet-search').fill('arm');
    await ann.getByTestId('take-arm').click();
    await seen(ann, 'lease-arm', /you.*token \d+/);
    await seen(bob, 'lease-arm', /^ann/);
    await bob.getByTestId('ask-arm').click();
    await seen(ann, 'question', /bob requests arm/);
    await ann.getByTestId('keep').click();
    await seen(bob, 'questions', /ann keeps arm/);
    await bob.getByTestId('ask-arm').click();
    await ann.getByTestId('hand-over').click();
    await seen(bob, 'lease-arm', /^you/);
    await seen(ann, 'lease-arm', /^bob/);
    await ann.getByTestId('take-away-arm').click();
    await ann.getByTestId('take-away-sure').click();
    await seen(ann, 'lease-arm', /^you/);
    await ann.getByTestId('release-arm').click();
    await seen(bob, 'lease-arm', /free/);
    const wanted = ['ann handed-over bob', 'ann lease-released bob', 'ann lease-released undefined'];
    let lines: string[] = [];
    for (let i = 0; i < 20 && !wanted.every((line) => lines.includes(line)); i++) {
      const entries = await readAudit(world.admin.nats, 'arm', 50);
      lines = entries.map(({ by, what, who }) => `${by} ${what} ${who}`);
    }
    for (const line of wanted) assert.ok(lines.includes(line), `${line} in ${lines.join('; ')}`);
  });

  it('lists recordings with the command to download one', async () => {
    await createRecordingBucket(world.admin.nats, 'arm', { maxBytes: 1e6, replicas: 1 });
    const index = new RecordingIndex(world.boss, 'arm');
    const known = { robot: 'arm', sizeBytes: 12_300_000, sha256: 'a'.repeat(64), durationS: 61, rows: 6100 };
    const where = [{ where: 'nats', verifiedAt: '2026-09-21T14:14:20.000Z' }];
    const later = {
      startedAt: '2026-09-21T14:13:20.000Z',
      task: 'put the cup on the shelf',
      label: 'success',
    };
    const earlier = { startedAt: '2026-09-20T09:00:00.000Z', task: 'fold the towel', label: null };
    await index.put({ ...known, ...later, episode: 'e2', places: where, atRobot: true });
    await index.put({ ...known, ...earlier, episode: 'e1', places: [], atRobot: true });
    await ann.getByTestId('fleet-search').fill('');
    await ann.getByTestId('fleet-recordings').click();
    await seen(ann, 'recording-e2', /arm.*cup.*success.*1:01.*12\.3 MB.*robot, fleet/);
    await ann.getByTestId('fleet-search').fill('towel');
    await ann.getByTestId('recording-e2').waitFor({ state: 'detached' });
    await seen(ann, 'recording-e1', /towel/);
    await ann.getByTestId('fleet-search').fill('');
    await ann.getByTestId('pull-e2').click();
    await seen(ann, 'pull-command', /^farhand fleet pull arm e2 --server nats:\S+ --creds \S+ann.creds/);
    await ann.screenshot({ path: path.join(artifacts, 'fleet-recordings.png') });
    await ann.getByTestId('fleet-robots').click();
  });

  it('shows offline robots, in dark and light, on desktop and phone', async () => {
    await seen(ann, 'state-hall-03', /offline \d+ s/);
    await seen(ann, 'tone-gone', /^1/);
    silent = [];
    for (const theme of ['dark', 'light'])
      for (const [name, width, height] of [
        ['desk', 1280, 720],
        ['phone', 390, 844],
      ] as const) {
        await ann.emulateMedia({ colorScheme: theme as 'dark' | 'light' });
        await ann.setViewportSize({ width, height });
        await ann.waitForTimeout(300);
        const wide = await ann.evaluate<number>('document.scrollingElement.scrollWidth');
        assert.ok(wide <= width, `${name}: ${wide} px wide`);
        await ann.screenshot({ path: path.join(artifacts, `fleet-${name}-${theme}.png`) });
      }
    await seen(ann, 'state-hall-03', /armed/);
    await ann.setViewportSize({ width: 1280, height: 720 });
    await expectAccessible(ann, 'fleet');
    await ann.getByTestId('fleet-recordings').click();
    await expectAccessible(ann, 'recordings of the fleet');
    await ann.getByTestId('fleet-robots').click();
    await ann.emulateMedia({ colorScheme: 'dark' });
  });

  it('drives a robot from the page without an operator process', async () => {
    await ann.goto(`${annUrl}?robot=arm`);
    await seen(ann, 'state', /stopped/);
    await seen(ann, 'path', /direct, < 1 ms|direct, \d+ ms/);
    await ann.screenshot({ path: path.join(artifacts, 'fleet-robot.png') });
    await ann.getByTestId('reset').click();
    await seen(ann, 'state', /idle/);
    await ann
      .getByTestId('input-page')
      .or(ann.getByRole('button', { name: 'Keyboard' }))
      .first()
      .click();
    await ann.getByTestId('arm').click();
    await seen(ann, 'state', /armed/);
    const joints = () => ann.evaluate<number[]>('window.__farhand.lastTelemetry.robot.measuredRad');
    const from = await joints();
    await ann.keyboard.down('Shift');
    await seen(ann, 'state', /engaged/);
    await ann.keyboard.down('e');
    let movedRad = 0;
    for (let i = 0; i < 100 && movedRad < 0.05; i++) {
      await sleep(50);
      const now = await joints();
      movedRad = Math.max(...now.map((angle, joint) => Math.abs(angle - from[joint]!)));
    }
    assert.ok(movedRad >= 0.05, `moved by ${movedRad} rad`);
    const [presence] = await roster(world.boss, 'arm');
    assert.equal(presence?.holder, 'ann');
    await ann.screenshot({ path: path.join(artifacts, 'fleet-driving.png') });
  });

  it('shows cameras and plays sound', async () => {
    const frames = () => ann.locator('[data-testid=camera-front] canvas').getAttribute('data-frames');
    for (let i = 0; i < 100 && Number(await frames()) < 5; i++) await sleep(50);
    assert.ok(Number(await frames()) >= 5, `${await frames()} pictures`);
    if (noSound) return;
    assert.equal(await text(ann, 'sound'), 'Sound off', 'sound starts muted');
    await ann.getByTestId('sound').click();
    await seen(ann, 'sound', /Sound on/);
    const receivedS = () => ann.evaluate<number>('document.querySelector("audio").currentTime');
    const beforeS = await receivedS();
    for (let i = 0; i < 600 && (await receivedS()) < beforeS + 0.3; i++) await sleep(50);
    assert.ok((await receivedS()) > beforeS, 'it plays');
  });

  it('records at the robot and lists the recording of the fleet', async () => {
    await ann.evaluate('location.hash = "#record"');
    await ann.getByTestId('task').fill('put the cup away');
    await ann.getByTestId('record-start').click();
    await seen(ann, 'recorder-state', /Recording/);
    await sleep(500);
    await ann.getByTestId('record-stop').click();
    await seen(ann, 'recorder-state', /Ready|Reset/);
    await seen(ann, 'fleet-recordings-table', /put the cup away.*robot/);
    await ann.evaluate('location.hash = "#operate"');
  });

  it('rejects another console and names the lease holder', async () => {
    await bob.goto(`${bobUrl}?robot=arm`);
    await seen(bob, 'banner', /Not connected to arm\s+arm is driven by ann/);
    await bob.goto(bobUrl);
    assert.equal((await roster(world.boss, 'arm'))[0]?.holder, 'ann');
    assert.doesNotMatch(await text(ann, 'state'), /stopped|disconnected/);
  });

  // Five sessions, each with a process of its own.
  it('stops the robot and releases the lease on leaving', { timeout: 300_000 }, async () => {
    const { leases } = world;
    await ann.keyboard.press('Escape');
    await seen(ann, 'state', /stopped/);
    await ann.keyboard.up('e');
    await ann.keyboard.up('Shift');
    // A large view, rendered in software, takes CPU time from the robot's processes.
    await ann.setViewportSize({ width: 840, height: 480 });
    await ann.reload();
    await seen(ann, 'state', /stopped/);
    // After a takeover the page does not take the lease back until the user requests it.
    await leases.takeAway('arm');
    await seen(ann, 'banner', /Its lease was taken away/);
    await sleep(500);
    assert.equal(await leases.look('arm'), null);
    // Without a session it can still stop the robot, and no longer shows it as stopped after a reset.
    await ann.keyboard.press('Escape');
    await seen(ann, 'estop', /STOPPED/);
    await bob.setViewportSize({ width: 840, height: 480 });
    await bob.goto(`${bobUrl}?robot=arm`);
    await seen(bob, 'state', /stopped/);
    assert.match(await text(ann, 'estop'), /STOPPED/);
    await bob.getByTestId('reset').click();
    await seen(bob, 'state', /idle/);
    await seen(ann, 'estop', /E-STOP/);
    await bob.goto(bobUrl);
    for (let i = 0; i < 600 && (await leases.look('arm')) !== null; i++) await sleep(50);
    await ann.getByTestId('banner-retry').click();
    for (let i = 0; i < 600 && (await leases.look('arm')) === null; i++) await sleep(50);
    assert.equal((await leases.look('arm'))?.user, 'ann');
    await seen(ann, 'state', /idle/);
    await ann.keyboard.press('Escape');
    await seen(ann, 'state', /stopped/);
    // The headset page is the same with another view.
    await ann.goto(`${annUrl}vr?robot=arm`);
    await seen(ann, 'state', /stopped/);
    await seen(ann, 'path', /^webrtc/);
    // A lost path is reopened under the same lease.
    await ann.evaluate('window.__farhandXr.dropPeer()');
    await seen(ann, 'why', /connection lost/);
    await seen(ann, 'state', /no telemetry/);
    await seen(ann, 'state', /stopped/);
    await seen(ann, 'why', /^$/);
    await ann.goto(annUrl);
    for (let i = 0; i < 600 && (await leases.look('arm')) !== null; i++) await sleep(50);
    assert.equal(await leases.look('arm'), null);
    assert.deepEqual(complaints, []);
  });

  it('rejects strangers; viewers can watch and stop', async () => {
    const origin = annUrl.replace(/\/$/, '');
    const { ask, openSocket, statusOf } = callersOf(annUrl);
    const operator = (await ask('GET', '', {})).cookie;
    const offered = await ask('POST', 'api/access/code', { origin, cookie: operator }, '{"role":"viewer"}');
    const { code } = JSON.parse(offered.text) as { code: string };
    const pairing = JSON.stringify({ code, name: 'wall' });
    const viewer = (await ask('POST', 'api/access/pair', { origin }, pairing)).cookie;
    const endpoints: [method: string, where: string, viewer: number][] = [
      ['GET', 'api/fleet/recordings', 200],
      ['GET', 'api/fleet/recordings?robot=arm', 200],
      ['GET', 'api/fleet/recordings?robot=*', 400],
      ['POST', 'api/fleet/recordings', 404],
      ['GET', 'api/fleet', 404],
      ['GET', 'api/devices', 404],
      ['POST', 'api/access/code', 403],
      ['POST', 'api/access/forget', 403],
      ['SOCKET', 'ws', 404],
      ['SOCKET', 'fleet', 0],
    ];
    for (const [who, headers] of Object.entries(strangers(origin, operator)))
      for (const [method, where] of endpoints) {
        const status = await statusOf(method, where, headers);
        assert.ok(status === 401 || status === 403, `${method} ${where} for ${who}: ${status}`);
      }
    for (const [method, where, status] of endpoints)
      assert.equal(await statusOf(method, where, { origin, cookie: viewer }), status, `${method} ${where}`);
    const replies = new Map<number, FleetReply>();
    let state: FleetState | undefined;
    const receive = (text: string) => {
      const message = JSON.parse(text) as FleetMessage;
      if (message.kind === 'reply') replies.set(message.id, message);
      else if (message.kind === 'fleet') state = message;
    };
    const socket = (await openSocket('fleet', { origin, cookie: viewer }, receive)) as WebSocket;
    const kinds = ['take', 'release', 'take-away', 'ask', 'open', 'estop'];
    for (const [id, kind] of kinds.entries())
      socket.send(JSON.stringify({ kind, id, robot: 'arm', ...(kind === 'open' ? { retry: false } : {}) }));
    const junk = ['{"kind":', '{"kind":"take","id":7,"robot":"a.b"}', '{"kind":"open","id":7,"robot":"*"}'];
    for (const each of junk) socket.send(each);
    for (let i = 0; i < 100 && replies.size < kinds.length + 1; i++) await sleep(20);
    assert.deepEqual(
      kinds.map((_, id) => replies.get(id)?.code ?? replies.get(id)?.state),
      [...kinds.slice(0, -1).map(() => 'viewer'), 'stopped'],
    );
    assert.equal(replies.get(-1)?.text, 'malformed');
    assert.deepEqual([state?.mayOperate, state?.credentials], [false, '']);
    const closed = once(socket, 'close');
    await ask('POST', 'api/access/forget', { origin, cookie: operator }, '{"id":"wall"}');
    assert.equal((await closed)[0], 4001);
  });
});
