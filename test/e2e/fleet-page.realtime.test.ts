import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIO } from '../../src/fleet/audio-source.ts';
import { readAudit } from '../../src/fleet/audit.ts';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import type { Presence, SentSignal } from '../../src/fleet/messages.ts';
import { signalRobot } from '../../src/fleet/signalling.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { emptyXr, encodeXr, XR_MAX_BYTES } from '../../src/input/codecs/webxr-codec.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, stampsIn, startFarhand } from './farhand.ts';
import { FleetPage, START_MS } from './fleet-page-peer.ts';
import { type FleetWorld, nextTransition, startFleetWorld, transitionsOf } from './fleet-rig.ts';

const skip = needs('nats-server');
const noSound = needs('ffmpeg');

// A busy machine takes half a minute to start the process of a session.
describe('a page that drives a fleet robot', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  let robot: Running;
  let ann: FleetConnection;
  let bob: FleetConnection;
  let page: FleetPage;
  /** The robot's last presence message. */
  let presence: Presence | null = null;
  const folder = temporaryFolder();
  const traces = path.join(folder, 'traces');
  const pages: FleetPage[] = [];

  const transitions = () => transitionsOf(robot);
  const next = (seen: number, to: string, withinMs: number) => nextTransition(robot, seen, to, withinMs);
  const openPage = async (who: FleetConnection) => {
    for (let waits = 0; waits < 400 && (await world.leases.look('arm')) !== null; waits++) await sleep(20);
    const opened = await FleetPage.open(who, 'arm');
    pages.push(opened);
    await opened.receive('hello', () => true, START_MS);
    await opened.until('telemetry of the robot', () => opened.robot !== undefined, START_MS);
    return opened;
  };
  const pageOperators = (): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          const [, ppid] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
          const isOurs = Number(ppid) === robot.process.pid;
          return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('page-operator');
        } catch {
          return false;
        }
      });
  const nowNs = () => Number(process.hrtime.bigint());
  const targets = () => [...page.robot!.targetRad];

  before(async () => {
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot');
    world.boss.nats.subscribe(subjects.presence('arm'), {
      callback: (_, message) => {
        presence = message.json<Presence>();
      },
    });
    ann = await world.enter('ann', 'operator');
    bob = await world.enter('bob', 'operator');
    const cameras = [
      `cameras.port=${(await freeUdpPorts(1))[0]!}`,
      ...['fpsHz=10', 'widthPx=160', 'heightPx=120'].map((text) => `cameras.list.front.${text}`),
    ];
    const sound = noSound ? [] : ['fleet.audio=test'];
    const settings = ['fleet.rtcAddress=127.0.0.1', `trace.dir=${traces}`, ...cameras, ...sound];
    robot = startFarhand(['robot', '--json', '--fleet', world.server.url, '--creds', arm, ...settings]);
    await robot.waitFor(/on the fleet/, START_MS);
  });
  after(async () => {
    for (const each of pages) {
      each.close();
      await each.lease.release().catch(() => {});
    }
    const code = await robot?.end();
    await world?.close();
    (await loadRtc()).cleanup();
    assert.equal(code, 0, robot?.stderr());
  });

  it('may leave before the session starts', async () => {
    const early = await FleetPage.open(ann, 'arm');
    await early.until('open', () => early.channels.get('page')?.isOpen());
    early.close();
    await early.lease.release();
  });

  it('receives model, scene and cameras first, then the access state', async () => {
    page = await openPage(ann);
    const [hello] = page.received;
    assert.equal(hello!['kind'], 'hello');
    assert.equal((hello!['model'] as { name: string }).name, 'ur3');
    assert.deepEqual(hello!['cameras'], ['front']);
    assert.equal((hello!['scene'] as { groundZM: number }).groundZM, 0);
    const access = await page.receive('access');
    assert.deepEqual(access, { kind: 'access', role: 'operator', inControl: false, holder: null, pages: 1 });
    assert.deepEqual([...page.channels.keys()].sort(), ['camera:front', 'news', 'page', 'poses']);
    assert.deepEqual(page.telemetries.at(-1)!.input.available, ['page', 'webxr']);
    // The previous page's process may take a moment to end.
    await page.until('its own process', () => pageOperators().length === 1, START_MS);
  });

  it('synchronizes its clock with probes over the pose channel', async () => {
    const measured = await page.receive('path', (each) => each['uncertaintyMs'] !== null);
    assert.equal(measured['over'], 'webrtc');
    assert.ok(
      page.probes.poses > 0 && (measured['uncertaintyMs'] as number) < 1000,
      JSON.stringify(measured),
    );
  });

  it('drives the robot: joint targets follow the hand', async () => {
    page.sendJson({ kind: 'input', name: 'page' });
    await page.drive();
    const before = targets();
    page.hand = { clutch: true, positionM: [0, 0.06, 0] };
    await page.until('moved', () => targets().some((rad, i) => Math.abs(rad - before[i]!) > 0.05), START_MS);
    await page.until('reported', () => presence?.link?.client === 'page' && presence.state === 'engaged');
    assert.equal(presence?.holder, 'ann');
    assert.ok(presence!.link!.fromOperatorHz! > 5, JSON.stringify(presence));
  });

  it('receives camera frames', async () => {
    const seen = await page.until('seen', () => page.pictures.get('camera:front'), START_MS);
    const [jpeg] = seen;
    assert.deepEqual([...jpeg!.subarray(0, 3)], [0xff, 0xd8, 0xff]);
    const before = seen.length;
    await page.until('two more', () => seen.length >= before + 2);
  });

  it('receives sound', { skip: noSound }, async () => {
    await page.until('sound received', () => page.sound.length > 20, START_MS);
    const packets = page.sound.filter((rtp) => (rtp[1]! & 0x7f) === AUDIO.payloadType);
    const numbers = packets.slice(0, 20).map((rtp) => new DataView(rtp.buffer).getUint16(2));
    assert.ok(
      numbers.every((number, i) => i === 0 || number > numbers[i - 1]!),
      `${numbers}`,
    );
    assert.ok(packets.every((rtp) => new DataView(rtp.buffer).getUint32(8) === AUDIO.ssrc));
  });

  it('changes nothing with malformed messages; the robot counts them', async () => {
    const before = transitions().length;
    const earlier = presence!.link!.refused!;
    const junk = [
      new Uint8Array(0),
      new Uint8Array(40).fill(0xa5),
      new Uint8Array(20_000),
      'junk',
      '{"kind":',
    ];
    const sendJunk = () => {
      for (const channel of page.channels.keys()) for (const each of junk) page.send(channel, each);
    };
    sendJunk();
    page.sendJson({ kind: 'hand', clutch: 'yes' });
    page.sendJson({ kind: 'input', name: 'nobody' });
    page.sendJson({ kind: 'rtc-start' });
    const isRefused = (request: string) =>
      page.received.some(
        (each) => each['kind'] === 'refused' && each['reason'] === 'malformed' && each['request'] === request,
      );
    // Two of the channels lose messages on a busy machine.
    for (let tries = 0; tries < 40 && !(isRefused('') && isRefused('hands')); tries++) {
      await sleep(500);
      sendJunk();
    }
    assert.deepEqual([isRefused(''), isRefused('hands')], [true, true]);
    // Fewer than were sent: unreliable channels lose some, and not every channel carries empty messages.
    await page.until('refused', () => presence!.link!.refused! >= earlier + 12, START_MS);
    assert.ok(
      page.telemetries.at(-1)!.counters['malformed']! >= 1,
      JSON.stringify(page.telemetries.at(-1)!.counters),
    );
    const since = transitions().slice(before);
    // A busy machine may cause a short hold.
    assert.ok(
      since.every(({ to }) => to === 'hold' || to === 'engaged'),
      JSON.stringify(since),
    );
    assert.equal(page.telemetries.at(-1)!.input.active, 'page');
  });

  it('excludes other users, with a page or an operator', async () => {
    await assert.rejects(FleetPage.open(bob, 'arm'), /arm is driven by ann/);
    // The holder's own grant, sent by another user.
    const greeting = await signalRobot(ann, 'arm', { kind: 'greet' });
    assert.ok(greeting.kind === 'greeting');
    const claim = { kind: 'open' as const, grant: await page.lease.grantFor(greeting.nonce) };
    for (const client of ['page', 'operator'] as const)
      assert.deepEqual(await signalRobot(bob, 'arm', { ...claim, client }), {
        kind: 'refused',
        reason: 'not-holder',
      });
    const wrong = await signalRobot(bob, 'arm', { ...claim, client: 'tourist' } as unknown as SentSignal);
    assert.deepEqual(wrong, { kind: 'refused', reason: 'malformed' });
    assert.ok(['engaged', 'hold'].includes(page.robot!.state));
    assert.equal(page.closed, false);
  });

  it('stops the robot with a message or a pose packet', async (t) => {
    const seen = transitions().length;
    const askedNs = nowNs();
    page.sendJson({ kind: 'estop' });
    const { robotNs } = await next(seen, 'stopped', START_MS);
    t.diagnostic(`e-stop over the page's channel: ${((robotNs - askedNs) / 1e6).toFixed(1)} ms`);
    await page.state('stopped');
    await page.drive();
    const again = transitions().length;
    const bytes = new Uint8Array(XR_MAX_BYTES);
    const length = encodeXr({ ...emptyXr(), estop: true }, bytes);
    page.send('poses', bytes.subarray(0, length));
    await next(again, 'stopped', START_MS);
  });

  it('holds without hand samples and stops without the page', async () => {
    await page.state('stopped');
    await page.drive();
    const seen = transitions().length;
    page.hand = null;
    page.answersProbes = false;
    await next(seen, 'hold', START_MS);
    const stopped = await next(seen, 'stopped', START_MS);
    assert.match(stopped.cause, /lease ended/);
    assert.equal((await page.receive('ended'))['reason'], 'the page went silent');
    page.close();
    await page.lease.release();
  });

  it('stops the robot when its page operator process is killed', async (t) => {
    page = await openPage(ann);
    await page.drive();
    const seen = transitions().length;
    const [operator] = pageOperators();
    const killedNs = nowNs();
    process.kill(operator!, 'SIGKILL');
    const { robotNs } = await next(seen, 'stopped', START_MS);
    t.diagnostic(
      `robot stopped ${((robotNs - killedNs) / 1e6).toFixed(1)} ms after its page operator was killed`,
    );
    assert.match(String((await page.receive('ended'))['reason']), /page operator ended \(SIGKILL\)/);
    await page.until('closed', () => page.closed);
    page.close();
    await page.lease.release();
  });

  it('ends and stops the robot when its lease is taken over', async () => {
    page = await openPage(ann);
    await page.drive();
    const seen = transitions().length;
    assert.equal((await world.leases.takeAway('arm'))?.user, 'ann');
    const stopped = await next(seen, 'stopped', START_MS);
    assert.match(stopped.cause, /lease ended/);
    await page.receive('ended');
    await page.until('closed', () => page.closed);
    for (let waits = 0; waits < 400 && pageOperators().length > 0; waits++) await sleep(50);
    assert.deepEqual(pageOperators(), []);
  });

  it('writes a trace with page stamps at the robot, and audit entries', async () => {
    const stamps = stampsIn(traces);
    assert.ok(stamps.length > 100, `${stamps.length} commands`);
    assert.ok(
      stamps.some((each) => Number.isFinite(each['device.sampled'])),
      JSON.stringify(stamps[50]),
    );
    const [file = ''] = readdirSync(traces).filter((name) => name.startsWith('robot_trace_'));
    assert.match(readFileSync(path.join(traces, file), 'utf8').split('\n')[0]!, /"transport":"webrtc"/);
    const entries = (await readAudit(world.admin.nats, 'arm', 100)).map(
      ({ by, what, who = '' }) => `${by} ${what} ${who}`,
    );
    for (const line of ['arm session-opened ann', 'arm estop ann', 'arm session-ended ann'])
      assert.ok(entries.includes(line), `${line} in\n${entries.join('\n')}`);
  });
});
