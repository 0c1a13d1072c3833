import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Authority, createAuthority } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { HeldLease } from '../../src/fleet/held-lease.ts';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import { holderOf } from '../../src/fleet/messages.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Running, startFarhand } from './farhand.ts';
import { FleetPage, signal } from './fleet-page-peer.ts';
import { writeCredentials } from './fleet-rig.ts';

const skip = needs('nats-server');
const noSound = needs('ffmpeg');
const MOST_PAGE_OPERATORS = 4;

describe('a fleet robot with hostile clients', { skip }, () => {
  let authority: Authority;
  let server: RunningServer;
  let robot: Running;
  let ann: FleetConnection;
  let bob: FleetConnection;
  let eve: FleetConnection;
  let admin: FleetConnection;
  let page: FleetPage;
  const folder = temporaryFolder();

  const enter = (name: string, role: FleetRole, robots: readonly string[]) =>
    writeCredentials(authority, folder, name, role, robots);
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
    const secret = randomBytes(24).toString('base64url');
    const holder = holderOf('ann', secret);
    const lease = await HeldLease.take(await LeaseStore.open(ann.nats), 'arm', holder, () => {});
    return { lease, open: { kind: 'open', holder, secret, revision: lease.revision } };
  };

  before(async () => {
    authority = await createAuthority(path.join(folder, 'fleet'));
    const [port = 0] = await freeUdpPorts(1);
    server = await startServer(authority, { name: 'one', host: '127.0.0.1', port });
    const [arm, root, annFile, bobFile, eveFile] = await Promise.all([
      enter('arm', 'robot', ['arm']),
      enter('root', 'admin', ['*']),
      enter('ann', 'operator', ['arm']),
      enter('bob', 'operator', ['arm']),
      enter('eve', 'operator', ['leg']),
    ]);
    admin = await connectFleet(server.url, root);
    await LeaseStore.create(admin.nats);
    const files = [annFile, bobFile, eveFile];
    [ann, bob, eve] = (await Promise.all(files.map((file) => connectFleet(server.url, file)))) as [
      FleetConnection,
      FleetConnection,
      FleetConnection,
    ];
    const settings = ['fleet.rtcAddress=127.0.0.1', ...(noSound ? [] : ['fleet.audio=test'])];
    robot = startFarhand(['robot', '--json', '--fleet', server.url, '--creds', arm, ...settings]);
    await robot.waitFor(/on the fleet/);
  });
  after(async () => {
    await robot?.end();
    await Promise.all([admin, ann, bob, eve].map((each) => each?.close()));
    await server?.close();
  });

  it('opens sessions one at a time and leaks nothing from earlier ones', async () => {
    const { lease, open } = await claim();
    await signal(ann.nats, 'arm', 'ann', open);
    const before = openFiles();
    const requests = Array.from({ length: 12 }, () => signal(ann.nats, 'arm', 'ann', open));
    const replies = await Promise.all(requests);
    assert.deepEqual(new Set(replies.map(({ kind }) => kind)), new Set(['offer']));
    await until('all closed but one', 20_000, () => openFiles() <= before);
    const numbers = replies.map((reply) => (reply.kind === 'offer' ? reply.session : 0));
    assert.equal(new Set(numbers).size, 12);
    for (const session of [Math.min(...numbers), Math.max(...numbers)]) {
      const reply = await signal(ann.nats, 'arm', 'ann', { kind: 'answer', session, sdp: 'junk' });
      const reason = session === Math.max(...numbers) ? 'malformed' : 'no such session';
      assert.deepEqual(reply, { kind: 'refused', reason });
    }
    await lease.release();
  });

  it('limits its processes however often a page is opened', async () => {
    const { lease, open } = await claim();
    const opensPage = { ...open, client: 'page' };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => signal(ann.nats, 'arm', 'ann', opensPage)),
    );
    assert.ok(
      children('page-operator').length <= MOST_PAGE_OPERATORS,
      `${children('page-operator').length} processes`,
    );
    const refused = replies.flatMap((reply) => (reply.kind === 'refused' ? [reply.reason] : []));
    assert.ok(refused.length > 0 && refused.every((reason) => reason === 'too many at once'), `${refused}`);
    await lease.release();
    await until('no processes left', 20_000, () => children('page-operator').length === 0);
  });

  it('can be taken away while its holder keeps renewing the lease', async () => {
    const store = await LeaseStore.open(ann.nats);
    const holder = 'ann.x';
    let revision = (await store.create('arm', holder))!;
    const taker = await LeaseStore.open(ann.nats);
    const get = taker.get.bind(taker);
    let renewals = 0;
    taker.get = async (robot) => {
      const entry = await get(robot);
      if (++renewals <= 2) revision = (await store.renew(robot, holder, revision))!;
      return entry;
    };
    assert.deepEqual(await taker.takeAway('arm'), { holder, revision });
    assert.equal(renewals, 3);
    assert.equal(await store.get('arm'), null);
    assert.equal(await taker.takeAway('arm'), null);
  });

  it('is not stopped by a broker reply that a user without access directed to it', async () => {
    const seen = robot.stdout().length;
    const leaf = subjects.leaseGet('leg');
    eve.nats.publish(leaf, '', { reply: subjects.estop('arm', 'eve') });
    await (await LeaseStore.open(eve.nats)).create('leg', 'eve.x');
    eve.nats.publish(leaf, '', { reply: subjects.estop('arm', 'eve') });
    eve.nats.publish(subjects.lease('leg'), 'eve.y', { reply: subjects.estop('arm', 'eve') });
    await eve.nats.flush();
    await sleep(300);
    assert.doesNotMatch(robot.stdout().slice(seen), /"stopped"/);
    ann.nats.publish(subjects.estop('arm', 'ann'));
    await until('stopped', 20_000, () => /"to":"stopped"/.test(robot.stdout().slice(seen)));
  });

  it('stops between two holders, and moves for the next only after arming', async () => {
    const first = await FleetPage.open(ann, 'arm');
    await first.receive('hello', () => true, 20_000);
    first.sendJson({ kind: 'input', name: 'page' });
    await first.until('telemetry of the robot', () => first.robot !== undefined, 20_000);
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
    await page.receive('hello', () => true, 20_000);
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
    if (!noSound) await until('sound', 20_000, () => children('ffmpeg').length === 1);
    const left = [...children('page-operator'), ...children('ffmpeg')];
    assert.equal(left.length, noSound ? 1 : 2);
    robot.process.kill('SIGKILL');
    await until('children ended', 20_000, () => !left.some(isAlive));
    page.close();
    await page.lease.release();
  });
});
