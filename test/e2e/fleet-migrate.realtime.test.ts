import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import {
  createAccount,
  createOperator,
  createUser,
  encodeAccount,
  encodeOperator,
  encodeUser,
  fmtCreds,
  type KeyPair,
} from '@nats-io/jwt';
import { Kvm } from '@nats-io/kv';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { readAudit } from '../../src/fleet/audit.ts';
import { connectFleet } from '../../src/fleet/connection.ts';
import { LeaseClient } from '../../src/fleet/leases/lease-client.ts';
import { makeKey } from '../../src/fleet/leases/lease-keys.ts';
import { RecordingIndex } from '../../src/fleet/recordings/recording-index.ts';
import { serverConfig } from '../../src/fleet/server-config.ts';
import { createRecordingBucket } from '../../src/fleet/store/recording-store.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { farhand, type Running, startFarhand } from './farhand.ts';
import { type PlainServer, startPlainServer } from './plain-nats.ts';

const skip = needs('nats-server');
const seed = (key: KeyPair): string => new TextDecoder().decode(key.getSeed());

/** A fleet as version 0.1 made it: one account, users with permissions for JetStream. */
class OldFleet {
  readonly folder = path.join(temporaryFolder(), 'fleet');
  readonly #account = createAccount();
  readonly #users: Record<string, object> = {};
  port = 0;

  async credentials(name: string, role: string, allow: string[]): Promise<Uint8Array> {
    const key = createUser();
    const permissions = {
      pub: { allow, deny: [] },
      sub: { allow: ['>'], deny: [] },
      resp: { max: 1, ttl: 10e9 },
    };
    const expires = Math.floor(Date.now() / 1000) + 3600;
    this.#users[name] = { publicKey: key.getPublicKey(), role, robots: ['arm'], expires };
    return fmtCreds(await encodeUser(name, key, this.#account, permissions, { exp: expires }), key);
  }

  async write(): Promise<string> {
    const [operator, system] = [createOperator(), createAccount()];
    const limits = {
      subs: -1,
      data: -1,
      payload: -1,
      imports: -1,
      exports: -1,
      conn: -1,
      leaf: -1,
      wildcards: true,
    };
    const stores = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
    const operatorToken = await encodeOperator('farhand', operator, {
      system_account: system.getPublicKey(),
    });
    const systemToken = await encodeAccount('system', system, { limits }, { signer: operator });
    const account = await encodeAccount(
      'fleet',
      this.#account,
      { limits: { ...limits, ...stores } },
      { signer: operator },
    );
    const kept = {
      ...{ operatorSeed: seed(operator), accountSeed: seed(this.#account), systemSeed: seed(system) },
      ...{ operatorToken, systemToken, revoked: {}, users: this.#users },
    };
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(path.join(this.folder, 'authority.json'), JSON.stringify(kept));
    const file = path.join(this.folder, 'server.conf');
    [this.port = 0] = await freeUdpPorts(1);
    const settings = {
      ...{
        name: 'one',
        host: '127.0.0.1',
        port: this.port,
        storeDir: path.join(this.folder, 'store'),
        users: '',
      },
      ...{ operator: operatorToken, system: system.getPublicKey() },
      accounts: { [this.#account.getPublicKey()]: account, [system.getPublicKey()]: systemToken },
    };
    writeFileSync(file, serverConfig(settings));
    return file;
  }
}

describe('a fleet with a single account', { skip }, () => {
  let server: PlainServer | undefined;
  let services: Running | undefined;
  const open: NatsConnection[] = [];
  after(async () => {
    await Promise.all(open.map((each) => each.close()));
    await services?.end();
    await server?.close();
  });

  it('is migrated with one command, keeps its data, and rejects its old credentials', async () => {
    const old = new OldFleet();
    const oldAdmin = await old.credentials('admin', 'admin', ['>']);
    const oldViewer = await old.credentials('vi', 'viewer', ['$JS.API.DIRECT.GET.KV_leases.$KV.leases.arm']);
    await old.credentials('ann', 'operator', []);
    const file = await old.write();
    const { folder } = old;
    server = await startPlainServer(file, old.port);
    const before = async (creds: Uint8Array) =>
      connect({ servers: server!.url, authenticator: credsAuthenticator(creds), reconnect: false });
    const admin = await before(oldAdmin);
    open.push(admin);
    await new Kvm(admin).create('leases', { ttl: 3000, history: 1 });
    const jsm = await jetstreamManager(admin);
    await jsm.streams.add({ name: 'AUDIT', subjects: ['farhand.audit.*.*'], deny_delete: true });
    await createRecordingBucket(admin, 'arm', { maxBytes: 1e6, replicas: 1 });
    const recording = {
      ...{
        robot: 'arm',
        episode: 'e1',
        sizeBytes: 10,
        sha256: 'a'.repeat(64),
        rows: 1,
        task: 'cup',
        label: null,
      },
      ...{ startedAt: '2026-09-21T14:13:20.000Z', durationS: 1, places: [], atRobot: true },
    };
    await admin.request('farhand.recording.arm.e1', JSON.stringify(recording));
    await admin.request('farhand.audit.arm.ann', JSON.stringify({ what: 'lease-taken', atMs: 1 }));

    // Everything else asks for the migration first.
    const refused = await farhand(['fleet', 'user', 'bob', '--dir', folder]);
    assert.match(refused.stderr, /single account.*\[fleet-outdated\]\n {2}→ .*farhand fleet migrate --dir/);
    const done = await farhand(['fleet', 'migrate', '--dir', folder]);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /new credentials of admin, vi, ann/);
    await server.close();
    server = await startPlainServer(file, old.port);
    for (const creds of [oldAdmin, oldViewer]) await assert.rejects(before(creds), /Authorization/i);

    const access = (name: string) => ['--server', server!.url, '--creds', path.join(folder, `${name}.creds`)];
    const setup = await farhand(['fleet', 'setup', ...access('admin')]);
    assert.equal(setup.code, 0, setup.stderr);
    services = startFarhand(['fleet', 'serve', ...access('service')]);
    await services.waitFor(/serving leases/);
    const ann = await connectFleet(server.url, path.join(folder, 'ann.creds'));
    open.push(ann.nats);
    assert.deepEqual((await new RecordingIndex(ann, 'arm').list())[0], recording);
    assert.ok((await new LeaseClient(ann).take('arm', makeKey().publicKey)).token > 1e12);
    const root = await connectFleet(server.url, path.join(folder, 'admin.creds'));
    open.push(root.nats);
    const lines = async () =>
      (await readAudit(root.nats, 'arm', 10)).map(({ by, what, atMs }) => [by, what, atMs > 1]);
    await until('both in the log', async () => (await lines()).length === 2);
    assert.deepEqual(await lines(), [
      ['ann', 'lease-taken', false],
      ['ann', 'lease-taken', true],
    ]);
    const again = await farhand(['fleet', 'migrate', '--dir', folder]);
    assert.match(again.stderr, /does not need to be migrated/);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /accountSeed/);
  });
});
