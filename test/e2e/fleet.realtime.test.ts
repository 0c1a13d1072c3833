import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAudit, createRobotAudit, readAudit, readRobotAudit } from '../../src/fleet/audit.ts';
import { type Authority, createAuthority } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import { type FleetTelemetry, holderOf, type Presence } from '../../src/fleet/messages.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { roster } from '../../src/fleet/roster.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { writeFrame } from '../../src/wire/codecs/frame.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { RtcLink } from '../../src/wire/transports/rtc-link.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, stampsIn, startFarhand } from './farhand.ts';
import { nextTransition, transitionsOf, writeCredentials } from './fleet-rig.ts';

const skip = needs('nats-server');
const HERE = 'fleet.rtcAddress=127.0.0.1';

describe('a fleet robot', { skip }, () => {
  let authority: Authority;
  let server: RunningServer;
  let port = 0;
  let robot: Running;
  let ann: Running;
  let annDesk = 0;
  let admin: FleetConnection;
  const folder = temporaryFolder();
  const running: Running[] = [];

  const credentials = (name: string, role: FleetRole) => writeCredentials(authority, folder, name, role);
  const access = (name: string) => ['--server', server.url, '--creds', path.join(folder, `${name}.creds`)];
  const broker = () => startServer(authority, { name: 'one', host: '127.0.0.1', port });
  const operate = async (name: string) => {
    const [desk, telemetry] = await freeUdpPorts(2);
    const ports = [`console.deskPort=${desk}`, `console.telemetryPort=${telemetry}`];
    const settings = [...ports, `trace.dir=${path.join(folder, name)}`, HERE];
    const child = startFarhand(['fleet', 'operate', 'arm', '--json', ...access(name), ...settings]);
    running.push(child);
    return { child, desk: desk! };
  };
  const transitions = () => transitionsOf(robot);
  /** The first transition to `to` after the first `seen`. */
  const next = (seen: number, to: string, withinMs: number) =>
    nextTransition(robot, seen, to, withinMs, () =>
      running.map((child) => child.stdout() + child.stderr()).join('\n'),
    );

  /** Resets and arms after a stop, through the operator's desk. */
  const restart = async (desk: number) => {
    const before = transitions().length;
    const isPast = (state: string) =>
      transitions()
        .slice(before)
        .some(({ to }) => to === state);
    for (let tries = 0; tries < 40 && !isPast('engaged'); tries++) {
      await ask(desk, isPast('idle') ? 'arm' : 'reset');
      await sleep(150);
    }
    await next(before, 'engaged', 20_000);
  };

  before(async () => {
    authority = await createAuthority(path.join(folder, 'fleet'));
    [port = 0] = await freeUdpPorts(1);
    server = await broker();
    const [arm] = await Promise.all([
      credentials('arm', 'robot'),
      credentials('ann', 'operator'),
      credentials('bob', 'operator'),
      credentials('vi', 'viewer'),
      credentials('root', 'admin'),
    ]);
    admin = await connectFleet(server.url, path.join(folder, 'root.creds'));
    await LeaseStore.create(admin.nats);
    await createAudit(admin.nats);
    await createRobotAudit(admin.nats, 'arm');
    robot = startFarhand(['robot', '--json', '--fleet', server.url, '--creds', arm, HERE]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    await Promise.all(running.map((child) => child.end()));
    await admin?.close();
    await server?.close();
  });

  it('follows the operator that holds its lease, over WebRTC', async () => {
    const started = await operate('ann');
    ann = started.child;
    annDesk = started.desk;
    await ann.waitFor(/drives arm over WebRTC \(host\)/);
    await next(0, 'engaged', 20_000);
    const reported: FleetTelemetry[] = [];
    const subscription = admin.nats.subscribe(subjects.telemetry('arm'), {
      callback: (_, message) => void reported.push(JSON.parse(message.string()) as FleetTelemetry),
    });
    await sleep(1200);
    subscription.unsubscribe();
    assert.ok(
      reported.length >= 3 && reported.length <= 12,
      `${reported.length} in 1.2 s: at most ten a second`,
    );
    const spans = reported[0]!.measuredRad.map((_, joint) => {
      const values = reported.map(({ measuredRad }) => measuredRad[joint]!);
      return Math.max(...values) - Math.min(...values);
    });
    assert.ok(Math.max(...spans) > 0.02, `the robot does not move: ${spans}`);
    let presence: Presence | undefined;
    const isFollowing = async () => {
      [presence] = await roster(admin, 'arm');
      return presence?.state === 'engaged';
    };
    await until('engaged on the roster', isFollowing, () => JSON.stringify(presence));
    assert.equal(presence?.holder, 'ann');
    assert.equal(presence?.model, 'ur3');
    assert.ok(presence!.link!.fromOperatorHz! > 50, JSON.stringify(presence));
  });

  it('rejects another operator while the lease is held, and one that only claims to hold it', async () => {
    const [second, list] = await Promise.all([
      farhand(['fleet', 'operate', 'arm', ...access('bob'), HERE]),
      farhand(['fleet', 'ls', ...access('bob')]),
    ]);
    assert.equal(second.code, 2);
    assert.match(second.stderr, /arm is driven by ann \[lease-held\]/);
    assert.match(list.stdout, /arm +ur3 +engaged +ann/);
    const bob = await connectFleet(server.url, path.join(folder, 'bob.creds'));
    const lease = await (await LeaseStore.open(bob.nats)).get('arm');
    const claim = { kind: 'open', holder: lease!.holder, secret: 'guessed', revision: lease!.revision };
    const reply = await bob.nats.request(subjects.signal('arm', 'bob'), JSON.stringify(claim));
    assert.deepEqual(reply.json(), { kind: 'refused', reason: 'not-holder' });
    const junk = await bob.nats.request(subjects.signal('arm', 'bob'), '{"kind":');
    assert.deepEqual(junk.json(), { kind: 'refused', reason: 'malformed' });
    // A request whose answer would go to another user gets none.
    const answers: string[] = [];
    admin.nats.subscribe('_INBOX.vi.here', { callback: (_, { subject }) => void answers.push(subject) });
    await admin.nats.flush();
    bob.nats.publish(subjects.signal('arm', 'bob'), '{"kind":', { reply: '_INBOX.vi.here' });
    await bob.nats.request(subjects.signal('arm', 'bob'), '{"kind":');
    assert.deepEqual(answers, []);
    await bob.close();
    assert.equal(transitions().at(-1)!.to, 'engaged');
  });

  it('continues under the same lease while the broker is killed and restarted', async (t) => {
    const before = transitions().length;
    const killedNs = Number(process.hrtime.bigint());
    await server.kill();
    await sleep(700);
    server = await broker();
    // Longer than the robot trusts a lease without proof.
    await sleep(2800);
    const since = transitions().slice(before);
    // A busy machine may cause a short hold.
    assert.ok(!since.some(({ to }) => to === 'stopped'), JSON.stringify(since));
    assert.equal((await roster(admin, 'arm'))[0]?.holder, 'ann');
    assert.doesNotMatch(ann.stdout(), /fleet-ended/);
    const came = stampsIn(path.join(folder, 'ann'))
      .map((stamps) => stamps['remote.follower.receive'] ?? Number.NaN)
      .filter((ns) => ns > killedNs)
      .sort((a, b) => a - b);
    const gapMs = Math.max(...came.slice(1).map((ns, i) => (ns - came[i]!) / 1e6));
    t.diagnostic(`${came.length} commands came, at most ${gapMs.toFixed(0)} ms apart`);
    assert.ok(came.length > 20 && came.at(-1)! > killedNs + 2.5e9, `${came.length} commands`);
  });

  it('is stopped over the broker by any user who may see it', async () => {
    const before = transitions().length;
    const startNs = Number(process.hrtime.bigint());
    const vi = await connectFleet(server.url, path.join(folder, 'vi.creds'));
    const reply = await vi.nats.request(subjects.estop('arm', 'vi'));
    await vi.close();
    assert.deepEqual(reply.json(), { state: 'stopped' });
    const stopped = await next(before, 'stopped', 20_000);
    assert.equal(stopped.cause, 'e-stop from the fleet');
    assert.ok(stopped.robotNs > startNs);
  });

  it('stops when its operator is killed, and another can then take it', async () => {
    await restart(annDesk);
    await ask(annDesk, 'estop');
    await next(transitions().length - 1, 'stopped', 20_000);
    await sleep(100);
    await restart(annDesk);
    const before = transitions().length;
    ann.process.kill('SIGKILL');
    await next(before, 'stopped', 20_000);
    const store = await LeaseStore.open(admin.nats);
    await until('a free lease', async () => (await store.get('arm')) === null);
    const bob = await operate('bob');
    await bob.child.waitFor(/drives arm/);
    await restart(bob.desk);
  });

  it('stops when the lease is taken away, and its operator exits', async () => {
    const before = transitions().length;
    const bob = running.at(-1)!;
    const { stdout } = await farhand(['fleet', 'release', 'arm', ...access('ann')]);
    assert.match(stdout, /arm: lease taken from bob/);
    const stopped = await next(before, 'stopped', 20_000);
    assert.match(stopped.cause, /lease ended/);
    assert.equal(await bob.exited, 1);
    assert.match(bob.stdout(), /fleet-ended/);
  });

  it('ends a session whose lease is gone, even while the operator keeps sending', async () => {
    const bob = await connectFleet(server.url, path.join(folder, 'bob.creds'));
    const store = await LeaseStore.open(bob.nats);
    const holder = holderOf('bob', 'secret');
    const revision = (await store.create('arm', holder))!;
    const signal = async (message: unknown) =>
      (
        await bob.nats.request(subjects.signal('arm', 'bob'), JSON.stringify(message), { timeout: 5000 })
      ).json<Record<string, unknown>>();
    const open = { kind: 'open', holder, secret: 'secret', revision };
    assert.equal((await signal({ ...open, revision: 1 }))['reason'], 'old-token');
    const { sdp, session } = await signal(open);
    const received: string[] = [];
    const handlers = {
      datagram() {},
      control: (text: string) => void received.push(text),
      opened() {},
      closed() {},
    };
    const settings = { ice: [], bindAddress: '127.0.0.1', relayOnly: false };
    const link = new RtcLink(await loadRtc(), settings, handlers, String(sdp));
    assert.deepEqual(await signal({ kind: 'answer', session, sdp: await link.description() }), {
      kind: 'accepted',
    });
    const waitFor = async (pattern: RegExp) => {
      for (let waits = 0; waits < 2000 && !received.some((text) => pattern.test(text)); waits++) {
        link.send(new Uint8Array([0, 1, 2, 3]));
        await sleep(10);
      }
    };
    await waitFor(/"key"/);
    assert.match(received.join(), /"key"/);
    await store.release('arm', (await store.get('arm'))!.revision);
    await waitFor(/ended/);
    assert.match(received.join(), /"reason":"no-lease"/);
    assert.equal((await signal(open))['reason'], 'no-lease');
    link.close();
    await bob.close();
  });

  it('logs who did what, readable by its operators', async () => {
    const bob = await connectFleet(server.url, path.join(folder, 'bob.creds'));
    // A lease that looks like a log entry, and a server reply directed to a subject that bob may not write
    // to.
    const forged = JSON.stringify({ what: 'estop', who: 'nobody', atMs: 1 });
    bob.nats.publish(subjects.lease('arm'), forged);
    bob.nats.publish(subjects.leaseGet('arm'), '', { reply: subjects.audit('arm', 'ann') });
    await bob.nats.flush();
    await sleep(300);
    const lines = await readAudit(admin.nats, 'arm', 100);
    assert.ok(!lines.some(({ who }) => who === 'nobody'), 'forged');
    assert.deepEqual(await readRobotAudit(bob.nats, 'arm', 100), lines);
    await assert.rejects(readAudit(bob.nats, 'arm', 1));
    await bob.close();
    const reported = lines.map(({ by, what, who = '' }) => `${by} ${what} ${who}`);
    for (const line of [
      'ann lease-taken ',
      'arm session-opened ann',
      'arm estop vi',
      'arm estop ann',
      'arm session-ended ann',
      'bob lease-taken ',
      'arm session-opened bob',
      'ann lease-released bob',
      'arm session-ended bob',
    ])
      assert.ok(reported.includes(line), `${line} in\n${reported.join('\n')}`);
  });
});

async function ask(deskPort: number, kind: string): Promise<void> {
  const out = new Uint8Array(128);
  const length = writeFrame('request', { kind }, out);
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.send(out, 0, length, deskPort, '127.0.0.1', () => resolve()));
  socket.close();
}
