import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Authority, createAuthority, issue, revoke } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const skip = needs('nats-server');

describe('a fleet’s broker', { skip }, () => {
  let authority: Authority;
  let server: RunningServer;
  const open: FleetConnection[] = [];

  const enter = async (name: string, role: FleetRole, robots: string[], seconds = 3600) => {
    const file = path.join(authority.folder, `${name}.creds`);
    writeFileSync(file, await issue(authority, { name, role, robots, seconds }, Date.now() / 1000));
    const connection = await connectFleet(server.url, file);
    open.push(connection);
    return connection;
  };

  before(async () => {
    authority = await createAuthority(path.join(temporaryFolder(), 'fleet'));
    const [port] = await freeUdpPorts(1);
    server = await startServer(authority, { name: 'one', host: '127.0.0.1', port: port! });
    await LeaseStore.create((await enter('root', 'admin', ['*'])).nats);
  });
  after(async () => {
    await Promise.all(open.map((connection) => connection.close()));
    await server?.close();
  });

  it('gives a robot’s lease to one of many, and to another after it expired', async () => {
    const people = await Promise.all(
      ['ann', 'bob', 'cy', 'dee'].map((name) => enter(name, 'operator', ['arm'])),
    );
    const stores = await Promise.all(people.map(({ nats }) => LeaseStore.open(nats)));
    const got = await Promise.all(stores.map((store, i) => store.create('arm', `p${i}`)));
    assert.equal(got.filter((revision) => revision !== null).length, 1);
    const winner = got.findIndex((revision) => revision !== null);
    const first = got[winner]!;
    const renewed = await stores[winner]!.renew('arm', `p${winner}`, first);
    assert.ok(renewed! > first);
    assert.equal(await stores[winner]!.renew('arm', `p${winner}`, first), null, 'an old revision');
    const other = (winner + 1) % 4;
    assert.deepEqual(await stores[other]!.get('arm'), { holder: `p${winner}`, revision: renewed });
    await sleep(3400);
    assert.equal(await stores[other]!.get('arm'), null);
    const next = await stores[other]!.create('arm', `p${other}`);
    assert.ok(next! > renewed!, 'the token increases');
    await stores[other]!.release('arm', next!);
    assert.equal(await stores[other]!.get('arm'), null);
  });

  it('rejects what a role or user may not do', async () => {
    const eve = await enter('eve', 'operator', ['other']);
    const viewer = await enter('vi', 'viewer', ['arm']);
    const robot = await enter('arm', 'robot', ['arm']);
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
    assert.equal(await refused(viewer, subjects.lease('arm')), true);
    assert.equal(await refused(viewer, subjects.estop('arm', 'vi')), false);
    assert.equal(await refused(viewer, subjects.estop('arm', 'eve')), true, 'in another user’s name');
    assert.equal(await refused(robot, subjects.lease('arm')), true);
    assert.equal(await refused(robot, subjects.presence('other')), true);
    assert.equal(await refused(robot, subjects.presence('arm')), false);
  });

  it('disconnects expired credentials', async () => {
    const short = await enter('brief', 'viewer', ['arm'], 2);
    await sleep(3200);
    assert.equal(short.isConnected(), false);
  });

  it('rejects revoked credentials after a reload', async () => {
    const file = path.join(authority.folder, 'gone.creds');
    writeFileSync(
      file,
      await issue(
        authority,
        { name: 'gone', role: 'viewer', robots: ['arm'], seconds: 60 },
        Date.now() / 1000,
      ),
    );
    revoke(authority, 'gone', Date.now() / 1000 + 1);
    await server.reload();
    await sleep(200);
    const entering = connectFleet(server.url, file).then((connection) => open.push(connection));
    await assert.rejects(entering, /no connection to the fleet/);
  });
});
