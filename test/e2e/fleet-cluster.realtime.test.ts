import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { type Authority, createAuthority, issue, serverAccounts } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { LeaseGuard } from '../../src/fleet/lease-guard.ts';
import { LeaseKeeper } from '../../src/fleet/lease-keeper.ts';
import { LeaseStore } from '../../src/fleet/lease-store.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { fleetAccountOf } from '../../src/fleet/server-config.ts';
import { type RunningServer, type ServerPlace, startServer } from '../../src/fleet/server-process.ts';
import { isAskedBy, LEASE_BUCKET, LEASE_TTL_MS, subjects } from '../../src/fleet/subjects.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { farhand } from './farhand.ts';

const skip = needs('nats-server');
const HOST = '127.0.0.1';
/** docs/fleet.md states these; servers elect a new leader within 4 to 9 s. */
const PRESENCE_WITHIN_MS = 3000;
const LEASE_WITHIN_MS = 20_000;
const nowNs = (): number => performance.now() * 1e6;

class Fleet {
  readonly authority: Authority;
  readonly servers = new Map<string, RunningServer>();
  readonly #open: FleetConnection[] = [];

  constructor(authority: Authority) {
    this.authority = authority;
  }

  async start(place: ServerPlace): Promise<RunningServer> {
    const server = await startServer(this.authority, place);
    this.servers.set(place.name, server);
    return server;
  }

  async credentials(name: string, role: FleetRole, robots: string[]): Promise<string> {
    const file = path.join(this.authority.folder, `${name}.creds`);
    writeFileSync(
      file,
      await issue(this.authority, { name, role, robots, seconds: 3600 }, Date.now() / 1000),
    );
    return file;
  }

  async enter(name: string, role: FleetRole, at: readonly RunningServer[]): Promise<FleetConnection> {
    const urls = at.map(({ url }) => url).join(',');
    const connection = await connectFleet(urls, await this.credentials(name, role, ['arm']));
    this.#open.push(connection);
    return connection;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((connection) => connection.close()));
    await Promise.all([...this.servers.values()].map((server) => server.kill()));
  }
}

const newFleet = async () => new Fleet(await createAuthority(path.join(temporaryFolder(), 'fleet')));

async function until(
  what: string,
  withinMs: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<number> {
  const startedMs = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await sleep(20);
  }
  return performance.now() - startedMs;
}

/** An operator that always wants the lease, and takes it again whenever it lost it. */
class Contender {
  keeper: LeaseKeeper;
  readonly #name: string;
  readonly #store: LeaseStore;
  #count = 0;
  #asking = false;

  constructor(name: string, store: LeaseStore) {
    this.#name = name;
    this.#store = store;
    this.keeper = this.#next();
  }

  tick(): void {
    const now = nowNs();
    if (!this.keeper.isHeld(now) && this.keeper.isLost) this.keeper = this.#next();
    if (this.#asking || !this.keeper.renewDue(now)) return;
    this.#asking = true;
    const { holder, revision } = this.keeper;
    const { keeper } = this;
    const answer =
      revision === 0 ? this.#store.create('arm', holder) : this.#store.renew('arm', holder, revision);
    answer
      .then((got) => (got === null ? keeper.refused() : keeper.granted(now, got)))
      .catch(() => {})
      .finally(() => {
        this.#asking = false;
      });
  }

  #next(): LeaseKeeper {
    return new LeaseKeeper(`${this.#name}-${this.#count++}`, { ttlNs: LEASE_TTL_MS * 0.9e6, renewNs: 0.5e9 });
  }
}

describe('a cluster of three', { skip }, () => {
  let fleet: Fleet;
  const places: ServerPlace[] = [];

  before(async () => {
    fleet = await newFleet();
    const ports = await freeUdpPorts(6);
    const routes = ports.slice(3).map((port) => `nats-route://${HOST}:${port}`);
    for (const i of [0, 1, 2])
      places.push({
        ...{ name: `n${i}`, host: HOST, port: ports[i]! },
        cluster: { name: 'fleet', host: HOST, port: ports[3 + i]!, routes },
      });
    await Promise.all(places.map((place) => fleet.start(place)));
  });
  after(() => fleet?.close());

  it('has at most one holder while each server is killed in turn, and recovers in time', async (t) => {
    const all = [...fleet.servers.values()];
    const admin = await fleet.enter('root', 'admin', all);
    await until('a bucket', 20_000, () =>
      LeaseStore.create(admin.nats, 3).then(
        () => true,
        () => false,
      ),
    );
    const jsm = await jetstreamManager(admin.nats, { timeout: 2000 });
    const [ann, bob, robot, viewer] = [
      await fleet.enter('ann', 'operator', all),
      await fleet.enter('bob', 'operator', all),
      await fleet.enter('arm', 'robot', all),
      await fleet.enter('vi', 'viewer', all),
    ];
    const wanting = [
      new Contender('ann', await LeaseStore.open(ann.nats)),
      new Contender('bob', await LeaseStore.open(bob.nats)),
    ];
    const guard = new LeaseGuard({ graceNs: 1e9, pollNs: 0.4e9 });
    const leases = await LeaseStore.open(robot.nats);
    let presenceMs = 0;
    viewer.nats.subscribe(subjects.presence('arm'), {
      callback: () => {
        presenceMs = performance.now();
      },
    });
    let both = 0;
    let accepted = 0;
    const seen: number[] = [];
    const mayCommand = () =>
      wanting.filter(
        ({ keeper }) =>
          keeper.revision > 0 && guard.refusal(keeper.holder, keeper.revision, nowNs()) === null,
      ).length;
    const timer = setInterval(() => {
      for (const each of wanting) each.tick();
      const askedNs = nowNs();
      if (guard.poll(askedNs))
        leases.get('arm').then(
          (entry) => guard.answered(askedNs, entry),
          () => {},
        );
      robot.nats.publish(subjects.presence('arm'), '{}');
      if (mayCommand() > 1 || wanting.filter(({ keeper }) => keeper.isHeld(nowNs())).length > 1) both++;
      accepted += mayCommand();
      const revision = Math.max(...wanting.map(({ keeper }) => keeper.revision));
      if (revision > (seen.at(-1) ?? 0)) seen.push(revision);
    }, 50);
    try {
      await until('a first holder', LEASE_WITHIN_MS, () => mayCommand() === 1);
      for (const { name, isLeader } of await inTurn(jsm)) {
        await fleet.servers.get(name)!.kill();
        const [killedMs, revision] = [performance.now(), seen.at(-1) ?? 0];
        const presence = await until('presence', PRESENCE_WITHIN_MS, () => presenceMs > killedMs + 100);
        const lease = await until(
          'a lease renewed or taken since',
          LEASE_WITHIN_MS,
          () => (seen.at(-1) ?? 0) > revision + 1 && mayCommand() === 1,
        );
        const took = performance.now() - killedMs;
        t.diagnostic(
          `${name}${isLeader ? ' (leader)' : ''} killed: presence after ${presence.toFixed(0)} ms, lease after ${took.toFixed(0)} ms (${lease.toFixed(0)})`,
        );
        await fleet.start(places.find((place) => place.name === name)!);
        if (!isLeader) await until('all servers current', 20_000, () => isWhole(jsm));
      }
    } finally {
      clearInterval(timer);
    }
    assert.equal(both, 0, 'two holders at once');
    assert.ok(accepted > 50);
  });
});

/** All servers of the lease bucket, its leader last. */
async function inTurn(jsm: JetStreamManager): Promise<{ name: string; isLeader: boolean }[]> {
  const { cluster } = await jsm.streams.info(`KV_${LEASE_BUCKET}`);
  const others = (cluster?.replicas ?? []).map(({ name }) => ({ name, isLeader: false }));
  return [...others, { name: cluster!.leader!, isLeader: true }];
}

const isWhole = (jsm: JetStreamManager): Promise<boolean> =>
  jsm.streams.info(`KV_${LEASE_BUCKET}`).then(
    ({ cluster }) => cluster?.replicas?.length === 2 && cluster.replicas.every(({ current }) => current),
    () => false,
  );

describe('a site', { skip }, () => {
  let fleet: Fleet;
  let hub: RunningServer;
  let site: RunningServer;
  let hubPlace: ServerPlace;

  before(async () => {
    fleet = await newFleet();
    const [hubPort, leafPort, sitePort] = await freeUdpPorts(3);
    hubPlace = { name: 'hub', host: HOST, port: hubPort!, leafPort: leafPort! };
    hub = await fleet.start(hubPlace);
    const leafOf = {
      url: `nats-leaf://${HOST}:${leafPort}`,
      credentials: await fleet.credentials('site-a', 'site', ['arm']),
      account: fleetAccountOf(await serverAccounts(fleet.authority)),
    };
    site = await fleet.start({ name: 'site-a', host: HOST, port: sitePort!, leafOf });
    await LeaseStore.create((await fleet.enter('root', 'admin', [site])).nats);
  });
  after(() => fleet?.close());

  it('continues without the fleet, and rejoins it when it is back', async (t) => {
    const robot = await fleet.enter('arm', 'robot', [site]);
    const near = await LeaseStore.open((await fleet.enter('near', 'operator', [site])).nats);
    const remote = await fleet.enter('remote', 'operator', [hub]);
    let received = 0;
    remote.nats.subscribe(subjects.presence('arm'), {
      callback: () => {
        received++;
      },
    });
    robot.nats.subscribe(subjects.signal('arm', '*'), {
      callback: (_, message) => void message.respond(isAskedBy('remote', message.reply) ? 'yes' : 'no'),
    });
    const send = () => robot.nats.publish(subjects.presence('arm'), '{}');
    const isReceived = (before: number) => () => {
      send();
      return received > before;
    };
    await until('presence at the fleet', 20_000, isReceived(0));
    assert.equal((await remote.nats.request(subjects.signal('arm', 'remote'), '')).string(), 'yes');
    const far = await LeaseStore.open(remote.nats, 'site-a');
    const first = await far.create('arm', 'far');
    assert.ok(first, 'a lease at the site, taken from the fleet');
    assert.equal(await near.create('arm', 'near'), null, 'a second lease for the same robot');
    await far.release('arm', first);
    const held = await near.create('arm', 'near');
    assert.ok(held! > first);

    await hub.kill();
    const renewed = await near.renew('arm', 'near', held!);
    assert.ok(renewed! > held!, 'not renewed without the fleet');
    assert.deepEqual(await (await LeaseStore.open(robot.nats)).get('arm'), {
      holder: 'near',
      revision: renewed,
    });
    hub = await fleet.start(hubPlace);
    const back = await until('presence at the fleet again', 20_000, isReceived(received));
    t.diagnostic(`presence at the fleet ${back.toFixed(0)} ms after it was back`);
    assert.equal((await far.get('arm'))?.holder, 'near');
  });

  it('passes only its own robots’ reports', async () => {
    const admin = await fleet.enter('boss', 'admin', [site]);
    const listener = await fleet.enter('listener', 'admin', [hub]);
    const received: string[] = [];
    for (const subject of ['farhand.>', '$KV.>', '$O.>'])
      listener.nats.subscribe(subject, { callback: (_, message) => void received.push(message.subject) });
    await listener.nats.flush();
    const sent = [
      subjects.presence('other'),
      subjects.estop('other', 'boss'),
      subjects.signal('other', 'boss'),
      subjects.lease('other'),
      '$O.recordings_arm.C.x',
    ];
    await until('the site is linked', 20_000, () => {
      for (const subject of [...sent, subjects.presence('arm')]) admin.nats.publish(subject, '{}');
      return received.includes(subjects.presence('arm'));
    });
    await sleep(200);
    assert.deepEqual([...new Set(received)], [subjects.presence('arm')]);
  });
});

describe('a revoked user', { skip }, () => {
  let fleet: Fleet;
  after(() => fleet?.close());

  it('is disconnected when the servers reload after `fleet revoke`', async () => {
    fleet = await newFleet();
    const dir = fleet.authority.folder;
    const [port] = await freeUdpPorts(1);
    const server = await fleet.start({ name: 'one', host: HOST, port: port! });
    const gone = await fleet.enter('gone', 'viewer', [server]);
    const stays = await fleet.enter('stays', 'viewer', [server]);
    // Credentials issued up to that second are void.
    await sleep(1000);
    const { code, stdout, stderr } = await farhand(['fleet', 'revoke', 'gone', '--dir', dir]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /wrote \S*servers\/one\/server\.conf/);
    assert.match(stdout, /--signal reload/);
    server.process.kill('SIGHUP');
    await until('disconnected', 20_000, () => !gone.isConnected());
    // A server may disconnect every client when it reloads its keys; valid ones reconnect at once.
    await until('the others reconnected', 20_000, () => stays.isConnected());
    await sleep(600);
    assert.equal(gone.isConnected(), false, 'reconnected');
  });

  it('`fleet server` writes a configuration that nats-server accepts; a site needs credentials', async () => {
    const dir = fleet.authority.folder;
    const options = ['--routes', '10.0.0.1:6222,10.0.0.2:6222', '--leaf-port', '7422', '--dir', dir];
    const plain = 'fleet.plainBeyondLoopback=true';
    const { code, stderr } = await farhand(['fleet', 'server', 'n1', ...options, plain]);
    assert.equal(code, 0, stderr);
    const tested = spawnSync('nats-server', ['-t', '-c', path.join(dir, 'servers', 'n1', 'server.conf')]);
    assert.match(tested.stderr.toString(), /is valid/);
    const site = await farhand(['fleet', 'server', 'site-b', '--leaf-of', '10.0.0.1:7422', '--dir', dir]);
    assert.notEqual(site.code, 0, 'a site without credentials');
  });
});
