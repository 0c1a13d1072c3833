import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { askAudit, createRobotAudit, readAudit } from '../../src/fleet/audit.ts';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import { HeldLease } from '../../src/fleet/leases/held-lease.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import { answerText, type FleetTelemetry, type Presence } from '../../src/fleet/messages.ts';
import { requestEstop } from '../../src/fleet/request-estop.ts';
import { roster } from '../../src/fleet/roster/listen-for-robots.ts';
import { acceptSession, requestSession, signalRobot } from '../../src/fleet/signalling.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { RtcLink } from '../../src/wire/transports/rtc-link.ts';
import { loadRtc } from '../../src/wire/transports/webrtc.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, stampsIn, startFarhand } from './farhand.ts';
import { askDesk, type FleetWorld, nextTransition, startFleetWorld, transitionsOf } from './fleet-rig.ts';

const skip = needs('nats-server');
const HERE = 'fleet.rtcAddress=127.0.0.1';

// Its processes start on a machine that may be busy.
describe('a fleet robot', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  let robot: Running;
  let ann: Running;
  let annDesk = 0;
  let bob: FleetConnection;
  const folder = temporaryFolder();
  const running: Running[] = [];

  const access = (name: string) => [
    '--server',
    world.server.url,
    '--creds',
    path.join(folder, `${name}.creds`),
  ];
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
      await askDesk(desk, isPast('idle') ? 'arm' : 'reset');
      await sleep(150);
    }
    await next(before, 'engaged', 20_000);
  };

  before(async () => {
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot');
    await world.credentials('ann', 'operator');
    bob = await world.enter('bob', 'operator');
    await createRobotAudit(world.admin.nats, 'arm');
    robot = startFarhand(['robot', '--json', '--fleet', world.server.url, '--creds', arm, HERE]);
    running.push(robot);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    await Promise.all(running.map((child) => child.end()));
    await world?.close();
  });

  it('follows the operator that holds its lease, over WebRTC', async () => {
    const started = await operate('ann');
    ann = started.child;
    annDesk = started.desk;
    await ann.waitFor(/drives arm over WebRTC \(host\)/);
    await next(0, 'engaged', 20_000);
    const reported: FleetTelemetry[] = [];
    const subscription = world.boss.nats.subscribe(subjects.telemetry('arm'), {
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
      [presence] = await roster(world.boss, 'arm');
      return presence?.state === 'engaged' && (presence.link?.fromOperatorHz ?? 0) > 50;
    };
    await until('engaged on the roster, at full rate', isFollowing, () => JSON.stringify(presence));
    assert.equal(presence?.holder, 'ann');
    assert.equal(presence?.model, 'ur3');
  });

  it('rejects another operator while the lease is held, and one that only claims to hold it', async () => {
    const [second, list] = await Promise.all([
      farhand(['fleet', 'operate', 'arm', ...access('bob'), HERE]),
      farhand(['fleet', 'ls', ...access('bob')]),
    ]);
    assert.equal(second.code, 2);
    assert.match(second.stderr, /arm is driven by ann \[lease-held\]/);
    assert.match(list.stdout, /arm +ur3 +engaged +ann/);
    const body = JSON.stringify({
      robot: 'arm',
      user: 'bob',
      key: 'x',
      token: 9e15,
      nonce: '',
      termMs: 9000,
    });
    const grant = { body, sig: bob.identity.sign(body) };
    assert.deepEqual(await signalRobot(bob, 'arm', { kind: 'open', grant }), {
      ...{ kind: 'refused', reason: 'no-lease' },
    });
    assert.equal(transitions().at(-1)!.to, 'engaged');
  });

  it('continues under the same lease while the broker is killed and restarted', async (t) => {
    const before = transitions().length;
    const killedNs = Number(process.hrtime.bigint());
    await world.server.kill();
    await sleep(4000);
    await world.startAgain();
    const isHeld = async () => (await roster(world.boss, 'arm'))[0]?.holder === 'ann';
    await until('the robot back on the fleet, still held by ann', () => isHeld().catch(() => false));
    const since = transitions().slice(before);
    // A busy machine may cause a short hold.
    assert.ok(!since.some(({ to }) => to === 'stopped'), JSON.stringify(since));
    assert.doesNotMatch(ann.stdout(), /fleet-ended/);
    const commands = () =>
      stampsIn(path.join(folder, 'ann'))
        .map((stamps) => stamps['remote.follower.receive'] ?? Number.NaN)
        .filter((ns) => ns > killedNs)
        .sort((a, b) => a - b);
    await until('commands long after', () => (commands().at(-1) ?? 0) > killedNs + 5e9);
    const came = commands();
    const gapMs = Math.max(...came.slice(1).map((ns, i) => (ns - came[i]!) / 1e6));
    t.diagnostic(`${came.length} commands came, at most ${gapMs.toFixed(0)} ms apart`);
    assert.ok(came.length > 20, `${came.length} commands`);
  });

  it('is stopped over the broker by any user who may see it', async () => {
    const before = transitions().length;
    const startNs = Number(process.hrtime.bigint());
    assert.equal(await requestEstop(await world.enter('vi', 'viewer'), 'arm'), 'stopped');
    const stopped = await next(before, 'stopped', 20_000);
    assert.equal(stopped.cause, 'e-stop from the fleet');
    assert.ok(stopped.robotNs > startNs);
  });

  it('stops when its operator is killed, and another can then take it', async () => {
    await restart(annDesk);
    await askDesk(annDesk, 'estop');
    await next(transitions().length - 1, 'stopped', 20_000);
    await sleep(100);
    await restart(annDesk);
    const before = transitions().length;
    ann.process.kill('SIGKILL');
    await next(before, 'stopped', 20_000);
    // A service that has just reconnected may leave a request unanswered.
    const isFree = async () => (await world.leases.look('arm')) === null;
    await until('a free lease', () => isFree().catch(() => false));
    const other = await operate('bob');
    await other.child.waitFor(/drives arm/);
    await restart(other.desk);
  });

  it('stops when the lease is taken away, and its operator exits', async () => {
    const before = transitions().length;
    const driver = running.at(-1)!;
    const { stdout } = await farhand(['fleet', 'release', 'arm', ...access('ann')]);
    assert.match(stdout, /arm: lease taken from bob/);
    const stopped = await next(before, 'stopped', 20_000);
    assert.match(stopped.cause, /lease ended/);
    assert.equal(await driver.exited, 1);
    assert.match(driver.stdout(), /fleet-ended/);
  });

  it('ends a session whose lease is gone, even while the operator keeps sending', async () => {
    const lease = await HeldLease.take(new LeaseClient(bob), 'arm', { lost() {} });
    const { sdp, session } = await requestSession(bob, lease, 'operator');
    const received: string[] = [];
    const handlers = {
      datagram() {},
      control: (text: string) => void received.push(text),
      opened() {},
      closed() {},
    };
    const settings = { ice: [], bindAddress: '127.0.0.1', relayOnly: false };
    const link = new RtcLink(await loadRtc(), settings, handlers, sdp);
    const answer = await link.description();
    const forged = bob.identity.sign(answerText('arm', lease.key, session, answer));
    assert.deepEqual(
      await signalRobot(bob, 'arm', { kind: 'answer', session, sdp: answer, sig: forged }),
      { kind: 'refused', reason: 'not-holder' },
      'signed with another key than the lease’s',
    );
    await acceptSession(bob, lease, session, answer);
    link.begin();
    const waitFor = async (pattern: RegExp) => {
      for (let waits = 0; waits < 2000 && !received.some((text) => pattern.test(text)); waits++) {
        link.send(new Uint8Array([0, 1, 2, 3]));
        await sleep(10);
      }
    };
    await waitFor(/"key"/);
    assert.match(received.join(), /"key"/);
    const greeting = await signalRobot(bob, 'arm', { kind: 'greet' });
    assert.ok(greeting.kind === 'greeting');
    const grant = await lease.grantFor(greeting.nonce);
    await lease.release();
    await waitFor(/ended/);
    assert.match(received.join(), /"reason":"old-token"/);
    assert.deepEqual(await signalRobot(bob, 'arm', { kind: 'open', grant }), {
      ...{ kind: 'refused', reason: 'old-token' },
    });
    link.close();
  });

  it('logs who did what, readable by its operators', async () => {
    const lines = await readAudit(world.admin.nats, 'arm', 100);
    assert.deepEqual(await askAudit(bob, 'arm', 100), lines);
    await assert.rejects(askAudit(bob, 'leg', 1), /do not allow to read the log of leg/);
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
