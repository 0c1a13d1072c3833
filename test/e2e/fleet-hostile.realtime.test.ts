import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAudit } from '../../src/fleet/audit.ts';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import { HeldLease } from '../../src/fleet/leases/held-lease.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import { answerText } from '../../src/fleet/messages.ts';
import { signalRobot } from '../../src/fleet/signalling.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until as untilHolds } from '../until.ts';
import { type Running, startFarhand } from './farhand.ts';
import { FleetPage, START_MS } from './fleet-page-peer.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server');
const noSound = needs('ffmpeg');
const MOST_PAGE_OPERATORS = 4;

// A busy machine takes half a minute to start the process of a session.
describe('a fleet robot with hostile clients', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  let robot: Running;
  let ann: FleetConnection;
  let bob: FleetConnection;
  let eve: FleetConnection;
  let page: FleetPage;
  const folder = temporaryFolder();

  /** Child processes of the robot's, by a word in their command lines. */
  const children = (word: string): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          const isOurs = readFileSync(`/proc/${pid}/status`, 'utf8').includes(
            `PPid:\t${robot.process.pid}\n`,
          );
          return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
        } catch {
          return false;
        }
      });
  const isAlive = (pid: number): boolean => {
    try {
      return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  };
  const until = async (what: string, withinMs: number, done: () => boolean) => {
    for (const endMs = performance.now() + withinMs; performance.now() < endMs; await sleep(20))
      if (done()) return;
    throw new Error(`not ${what} within ${withinMs} ms:\n${robot.stdout()}\n${robot.stderr()}`);
  };
  const openFiles = () => readdirSync(`/proc/${robot.process.pid}/fd`).length;
  const claim = async () => {
    const lease = await HeldLease.take(new LeaseClient(ann), 'arm', { lost() {} });
    const greeting = await signalRobot(ann, 'arm', { kind: 'greet' });
    assert.ok(greeting.kind === 'greeting');
    return { lease, open: { kind: 'open' as const, grant: await lease.grantFor(greeting.nonce) } };
  };

  before(async () => {
    world = await startFleetWorld(folder);
    const arm = await world.credentials('arm', 'robot');
    ann = await world.enter('ann', 'operator');
    bob = await world.enter('bob', 'operator');
    eve = await world.enter('eve', 'operator', ['leg']);
    const settings = ['fleet.rtcAddress=127.0.0.1', ...(noSound ? [] : ['fleet.audio=test'])];
    robot = startFarhand(['robot', '--json', '--fleet', world.server.url, '--creds', arm, ...settings]);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    await robot?.end();
    await world?.close();
  });

  it('opens sessions one at a time and leaks nothing from earlier ones', async () => {
    const { lease, open } = await claim();
    await signalRobot(ann, 'arm', open);
    const before = openFiles();
    const requests = Array.from({ length: 12 }, () => signalRobot(ann, 'arm', open));
    const replies = await Promise.all(requests);
    assert.deepEqual(new Set(replies.map(({ kind }) => kind)), new Set(['offer']));
    await until('all closed but one', 20_000, () => openFiles() <= before);
    const numbers = replies.map((reply) => (reply.kind === 'offer' ? reply.session : 0));
    assert.equal(new Set(numbers).size, 12);
    for (const session of [Math.min(...numbers), Math.max(...numbers)]) {
      const reply = await signalRobot(ann, 'arm', {
        ...{ kind: 'answer', session, sdp: 'junk' },
        sig: lease.sign(answerText('arm', lease.key, session, 'junk')),
      });
      const reason = session === Math.max(...numbers) ? 'malformed' : 'no such session';
      assert.deepEqual(reply, { kind: 'refused', reason });
    }
    await lease.release();
  });

  it('limits its processes however often a page is opened', async () => {
    const { lease, open } = await claim();
    const opensPage = { ...open, client: 'page' as const };
    const replies = await Promise.all(Array.from({ length: 10 }, () => signalRobot(ann, 'arm', opensPage)));
    assert.ok(
      children('page-operator').length <= MOST_PAGE_OPERATORS,
      `${children('page-operator').length} processes`,
    );
    const refused = replies.flatMap((reply) => (reply.kind === 'refused' ? [reply.reason] : []));
    assert.ok(refused.length > 0 && refused.every((reason) => reason === 'too many at once'), `${refused}`);
    await lease.release();
    await until('no processes left', 20_000, () => children('page-operator').length === 0);
  });

  it('answers nobody else, and logs who tried', async () => {
    const seen = robot.stdout().length;
    const received: string[] = [];
    const spy = await world.enter('spy', 'site', ['*']);
    spy.nats.subscribe(subjects.estop('*', '*'), {
      callback: (_, { subject }) => void received.push(subject),
    });
    await spy.nats.flush();
    for (const reply of [subjects.estop('leg', 'eve'), subjects.answer('eve', 'store', 'leg', '1')]) {
      bob.nats.publish(subjects.signal('arm', 'bob'), '{"kind":"greet","id":"1"}', { reply });
      bob.nats.publish(subjects.lease('look', 'arm', 'bob'), '{"id":"1"}', { reply });
    }
    eve.nats.publish(subjects.estop('arm', 'eve'));
    await Promise.all([bob.nats.flush(), eve.nats.flush()]);
    const rejected = async () =>
      (await readAudit(world.admin.nats, 'arm', 50)).filter(
        ({ what, who }) => what === 'rejected' && who === 'bob',
      );
    await untilHolds('in the log', async () => new Set((await rejected()).map(({ by }) => by)).size === 2);
    assert.deepEqual((await rejected()).map(({ by, why, count }) => `${by} ${why} ${count}`).sort(), [
      'arm reply subject 2',
      'service reply subject 2',
    ]);
    assert.deepEqual(received, []);
    assert.doesNotMatch(robot.stdout().slice(seen), /"stopped"/);
    ann.nats.publish(subjects.estop('arm', 'ann'));
    await until('stopped', 20_000, () => /"to":"stopped"/.test(robot.stdout().slice(seen)));
  });

  it('stops between two holders, and moves for the next only after arming', async () => {
    const first = await FleetPage.open(ann, 'arm');
    await first.receive('hello', () => true, START_MS);
    first.sendJson({ kind: 'input', name: 'page' });
    await first.until('telemetry of the robot', () => first.robot !== undefined, START_MS);
    await first.drive();
    const seen = robot.stdout().length;
    const since = () =>
      [
        ...robot
          .stdout()
          .slice(seen)
          .matchAll(/"to":"(\w+)"/g),
      ].map(([, to]) => to!);
    await first.lease.release();
    page = await FleetPage.open(bob, 'arm');
    await until('stopped', 20_000, () => since().includes('stopped'));
    page.hand = { clutch: true, positionM: [0, 0, 0] };
    await page.receive('hello', () => true, START_MS);
    page.sendJson({ kind: 'input', name: 'page' });
    // The former holder keeps sending.
    for (const kind of ['reset', 'arm']) first.sendJson({ kind });
    await sleep(500);
    assert.deepEqual(
      since().filter((to) => ['idle', 'armed', 'engaged'].includes(to)),
      [],
    );
    first.close();
  });

  it('leaves no child process behind when it is killed', async () => {
    if (!noSound) await until('sound', START_MS, () => children('ffmpeg').length === 1);
    const left = [...children('page-operator'), ...children('ffmpeg')];
    assert.equal(left.length, noSound ? 1 : 2);
    robot.process.kill('SIGKILL');
    await until('children ended', 20_000, () => !left.some(isAlive));
    page.close();
    await page.lease.release();
  });
});
