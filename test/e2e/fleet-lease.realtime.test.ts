import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { issue, revoke } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { LEASE_BUCKET } from '../../src/fleet/leases/lease-bucket.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import { makeKey } from '../../src/fleet/leases/lease-keys.ts';
import { VACANT_MS } from '../../src/fleet/leases/lease-rules.ts';
import { loadJetStream, loadKv } from '../../src/fleet/nats-module.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';

const skip = needs('nats-server');

// Its processes start on a machine that may be busy.
describe('a fleet’s broker', { skip, timeout: 180_000 }, () => {
  let world: FleetWorld;
  const folder = temporaryFolder();
  const key = () => makeKey().publicKey;

  before(async () => {
    world = await startFleetWorld(folder);
  });
  after(() => world?.close());

  it('gives a robot’s lease to one of many, and to another after it expired', async () => {
    const clients: LeaseClient[] = [];
    for (const name of ['ann', 'bob', 'cy', 'dee'])
      clients.push(new LeaseClient(await world.enter(name, 'operator')));
    const taking = clients.map((client) =>
      client.take('arm', key()).catch((error: unknown) => String(error)),
    );
    const got = await Promise.all(taking);
    const winner = got.findIndex((held) => typeof held !== 'string');
    const held = got[winner]!;
    assert.ok(typeof held !== 'string', String(held));
    assert.ok(
      got.every((each, i) => i === winner || String(each).includes('is driven by')),
      String(got),
    );
    assert.notEqual(await clients[winner]!.renew('arm', held.token, ''), null);
    const other = clients[(winner + 1) % 4]!;
    assert.equal(await other.renew('arm', held.token, ''), null, 'another user’s token');
    assert.equal((await other.look('arm'))?.token, held.token);
    await until('a free lease', async () => (await other.look('arm')) === null);
    const next = await other.take('arm', key());
    assert.ok(next.token > held.token, 'the token increases');
    assert.equal(await clients[winner]!.renew('arm', held.token, ''), null, 'an old token');
    assert.equal(await other.release('arm', next.token), true);
    assert.equal(await other.look('arm'), null);
  });

  it('never repeats a token, even if the bucket is deleted', async () => {
    const boss = world.leases;
    const before = await boss.take('arm', key());
    const { jetstreamManager } = await loadJetStream();
    const manager = await jetstreamManager(world.admin.nats);
    await manager.streams.delete(`KV_${LEASE_BUCKET}`);
    await assert.rejects(boss.take('arm', key()), /cannot be changed now/);
    const { Kvm } = await loadKv();
    await new Kvm(world.admin.nats).create(LEASE_BUCKET, { history: 1, storage: 'file' as never });
    const after = await boss.take('arm', key());
    assert.ok(after.token > before.token);
    // A robot that has seen a higher token, of a service whose clock was ahead, raises it.
    const robot = new LeaseClient(await world.enter('arm', 'robot'));
    const ahead = Date.now() + 60_000;
    await robot.raise('arm', ahead);
    assert.ok((await boss.take('arm', key())).token > ahead);
    await robot.raise('arm', Date.now() + 10 * 86_400_000);
    assert.ok((await boss.look('arm'))!.token < ahead + 1000, 'a robot cannot raise it by days');
  });

  it('does not free a lease because of a silence that was the store’s', async () => {
    const boss = world.leases;
    await boss.takeAway('arm');
    const { token } = await boss.take('arm', key());
    await world.server.kill();
    await sleep(VACANT_MS + 1000);
    await world.startAgain();
    const other = new LeaseClient(await world.enter('eve', 'operator'));
    // A request to a service that is still away waits five seconds: as long as the lease is kept.
    const again = new LeaseClient(await world.enter('boss', 'operator', ['*']));
    let seen = false;
    const looking = setInterval(
      () =>
        void again
          .look('arm')
          .then((held) => (seen ||= held !== null))
          .catch(() => {}),
      200,
    );
    await until('the broker again', () => seen);
    clearInterval(looking);
    await assert.rejects(other.take('arm', key()), /is driven by boss/);
    assert.notEqual(await again.renew('arm', token, ''), null);
    await until('the old connection again', () => world.boss.isConnected());
  });

  it('rejects what a role or user may not do', async () => {
    const eve = await world.enter('eve', 'operator', ['other']);
    const viewer = await world.enter('vi', 'viewer');
    const robot = await world.enter('arm', 'robot');
    const refused = async (who: FleetConnection, subject: string) => {
      const seen: string[] = [];
      void (async () => {
        for await (const status of who.nats.status())
          if (status.type === 'error') seen.push(String(status.error));
      })();
      who.nats.publish(subject, 'x');
      await who.nats.flush();
      await sleep(50);
      return seen.some((text) => /permissions violation/i.test(text));
    };
    assert.equal(await refused(eve, subjects.signal('arm', 'eve')), true);
    assert.equal(await refused(eve, subjects.estop('arm', 'eve')), true);
    assert.equal(await refused(eve, subjects.estop('other', 'eve')), false);
    assert.equal(await refused(viewer, subjects.signal('arm', 'vi')), true);
    assert.equal(await refused(viewer, subjects.lease('take', 'arm', 'vi')), true);
    assert.equal(await refused(viewer, subjects.lease('look', 'arm', 'vi')), false);
    assert.equal(await refused(viewer, subjects.estop('arm', 'vi')), false);
    assert.equal(await refused(viewer, subjects.estop('arm', 'eve')), true, 'in another user’s name');
    assert.equal(await refused(robot, subjects.lease('take', 'arm', 'arm')), true);
    assert.equal(await refused(robot, subjects.presence('other')), true);
    assert.equal(await refused(robot, subjects.presence('arm')), false);
    await assert.rejects(
      new LeaseClient(viewer).take('arm', key()),
      /the credentials of vi do not allow to take the lease of arm/,
    );
  });

  it('covers a group of robots with one permission', async () => {
    const north = await world.enter('north', 'operator', ['hall-1/*']);
    const client = new LeaseClient(north);
    assert.deepEqual(north.robots, ['hall-1/*']);
    const { token } = await client.take('hall-1/arm', key());
    assert.equal((await world.leases.look('hall-1/arm'))?.user, 'north');
    assert.equal(await world.leases.look('arm-of-hall-1'), null);
    await client.release('hall-1/arm', token);
    await assert.rejects(client.take('hall-2/arm', key()), /do not allow/);
    await assert.rejects(client.take('arm', key()), /do not allow/);
  });

  it('disconnects expired credentials', async () => {
    const file = path.join(folder, 'brief.creds');
    // A busy machine may need longer than some seconds to connect.
    let short: FleetConnection | null = null;
    for (let seconds = 2; short === null && seconds < 60; seconds *= 2) {
      const who = { name: 'brief', role: 'viewer', robots: ['arm'], seconds } as const;
      writeFileSync(file, await issue(world.authority, who, Date.now() / 1000));
      short = await connectFleet(world.server.url, file).catch(() => null);
    }
    assert.ok(short !== null);
    await until('disconnected', () => !short.isConnected());
    await short.close();
  });

  it('rejects revoked credentials after a reload', async () => {
    const file = await world.credentials('gone', 'viewer');
    revoke(world.authority, 'gone', Date.now() / 1000 + 1);
    await world.server.reload();
    await sleep(200);
    await assert.rejects(connectFleet(world.server.url, file), /no connection to the fleet/);
  });
});
