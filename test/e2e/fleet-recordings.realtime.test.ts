import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Authority, createAuthority, issue } from '../../src/fleet/authority.ts';
import { connectFleet, type FleetConnection } from '../../src/fleet/connection.ts';
import { NatsTarget } from '../../src/fleet/recordings/nats-target.ts';
import { pullRecording } from '../../src/fleet/recordings/pull.ts';
import { pushRecordings } from '../../src/fleet/recordings/push.ts';
import { createRecordingBucket, RecordingIndex } from '../../src/fleet/recordings/recording-index.ts';
import { s3ClientOf } from '../../src/fleet/recordings/s3-place.ts';
import { partBytesOf, S3Target } from '../../src/fleet/recordings/s3-target.ts';
import { type RecordingTarget, START } from '../../src/fleet/recordings/target.ts';
import { recordingNames } from '../../src/fleet/recordings.ts';
import type { FleetRole } from '../../src/fleet/roles.ts';
import { type RunningServer, startServer } from '../../src/fleet/server-process.ts';
import { emptyInfo, received, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { freeUdpPorts } from '../../src/wire/transports/free-ports.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';
import { farhand, startFarhand } from './farhand.ts';
import { S3_TEST_ENV, type S3StandIn, startS3StandIn } from './s3-stand-in.ts';

const skip = needs('nats-server');

/** A finished episode with some `megabytes` of pictures. */
function record(dir: string, id: string, megabytes: number): Buffer {
  mkdirSync(dir, { recursive: true });
  const file = path.join(dir, `${id}.mcap`);
  const info = emptyInfo(id, 6, ['front']);
  const writer = new EpisodeWriter(file, startOf(info));
  const count = megabytes * 10;
  for (let i = 0; i < count; i++) {
    const pictures = new Map([['front', received('front', i, id.length, 100_000)]]);
    const sampledNs = START_NS + i * 30e6;
    writer.row(rowOf(i, 6, pictures, sampledNs), sampledNs, pictures);
    writer.flushIfDue(sampledNs);
  }
  writer.close({ ...info, rows: count, durationS: count * 0.03, complete: true });
  return readFileSync(file);
}

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('recordings of a fleet', { skip }, () => {
  let authority: Authority;
  let server: RunningServer;
  let s3: S3StandIn;
  let admin: FleetConnection;
  let robot: FleetConnection;
  const open: FleetConnection[] = [];
  const proxies: CutProxy[] = [];
  const folder = temporaryFolder();

  const credentials = async (name: string, role: FleetRole, robots: string[]) => {
    const file = path.join(authority.folder, `${name}.creds`);
    writeFileSync(file, await issue(authority, { name, role, robots, seconds: 3600 }, Date.now() / 1000));
    return file;
  };
  const enter = async (name: string, role: FleetRole, robots: string[]) => {
    const connection = await connectFleet(server.url, await credentials(name, role, robots));
    open.push(connection);
    return connection;
  };
  const send = async (dir: string, target: RecordingTarget | null, deleteAfter = false) => {
    const lines: string[] = [];
    const index = await RecordingIndex.open(robot.nats, 'arm');
    await pushRecordings(index, {
      ...{ robot: 'arm', dir, episodes: [], target, deleteAfter },
      now: () => '2026-09-21T14:13:20.000Z',
      say: (text) => lines.push(text),
    });
    return lines;
  };
  const toS3 = (robotName = 'arm') =>
    new S3Target(s3ClientOf('s3://store/farhand', robotName, S3_TEST_ENV, s3.url));

  before(async () => {
    authority = await createAuthority(path.join(folder, 'fleet'));
    const [port] = await freeUdpPorts(1);
    server = await startServer(authority, { name: 'one', host: '127.0.0.1', port: port! });
    s3 = await startS3StandIn();
    admin = await enter('root', 'admin', ['*']);
    await createRecordingBucket(admin.nats, 'arm', { maxBytes: 1e9, replicas: 1 });
    await createRecordingBucket(admin.nats, 'other', { maxBytes: 1e8, replicas: 1 });
    robot = await enter('arm', 'robot', ['arm']);
  });
  after(async () => {
    await Promise.all(open.map((connection) => connection.close()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await s3?.close();
    await server?.close();
  });

  it('are announced, stored, readable by any NATS client, and deleted only then', async () => {
    const dir = path.join(folder, 'a');
    const bytes = record(dir, 'a-1', 2);
    const viewer = await enter('vi', 'viewer', ['arm']);
    const messages: string[] = [];
    viewer.nats.subscribe(recordingNames.entry('arm', '*'), {
      callback: (_, message) => void messages.push(message.string()),
    });
    await viewer.nats.flush();
    await send(dir, null);
    assert.equal(existsSync(path.join(dir, 'a-1.mcap')), true);
    const target = await NatsTarget.open(robot.nats, 'arm');
    await send(dir, target, true);
    assert.equal(existsSync(path.join(dir, 'a-1.mcap')), false);
    await viewer.nats.flush();
    assert.deepEqual(
      messages.map((text) => {
        const { atRobot, places } = JSON.parse(text) as { atRobot: boolean; places: unknown[] };
        return [atRobot, places.length];
      }),
      [
        [true, 0],
        [true, 0],
        [true, 1],
        [false, 1],
      ],
    );
    const index = await RecordingIndex.open(viewer.nats, 'arm');
    const [entry] = await index.list();
    assert.equal(entry?.sha256, sha(bytes));
    const pulled = await pullRecording(
      await NatsTarget.open(viewer.nats, 'arm'),
      entry!,
      path.join(folder, 'got'),
      () => {},
    );
    assert.equal(sha(readFileSync(pulled)), sha(bytes));
    const { Objm } = await import('@nats-io/obj');
    const store = await new Objm(admin.nats).open(recordingNames.bucket('arm'));
    assert.equal(sha((await store.getBlob('a-1.mcap'))!), sha(bytes), 'as other clients read it');
  });

  it('resume an upload to JetStream after kill −9', async () => {
    const dir = path.join(folder, 'b');
    const bytes = record(dir, 'b-1', 8);
    const creds = await credentials('arm', 'robot', ['arm']);
    const args = (url: string) => [
      'fleet',
      'push',
      'arm',
      '--creds',
      creds,
      '--recordings',
      dir,
      '--delete',
      '--url',
      url,
    ];
    const proxy = await startCutProxy(Number(new URL(server.url).port), 4e6, () =>
      child.process.kill('SIGKILL'),
    );
    proxies.push(proxy);
    const child = startFarhand(args(`nats://127.0.0.1:${proxy.port}`));
    await child.exited;
    assert.equal(child.process.signalCode, 'SIGKILL');
    assert.equal(existsSync(path.join(dir, 'b-1.mcap')), true);
    const again = await farhand(args(server.url));
    assert.equal(again.code, 0, again.stderr);
    const there = Number(/resuming, ([\d.]+) MB already stored/.exec(again.stdout)?.[1]);
    assert.ok(there >= 3 && there <= 4.2, again.stdout);
    assert.match(again.stdout, /verified[\s\S]*deleted here/);
    assert.equal(existsSync(path.join(dir, 'b-1.mcap')), false);
    const entry = await (await RecordingIndex.open(robot.nats, 'arm')).get('b-1');
    assert.equal(entry?.sha256, sha(bytes));
    assert.equal(entry?.atRobot, false);

    const target = await NatsTarget.open(robot.nats, 'arm');
    const got = path.join(folder, 'got');
    const stopping: RecordingTarget = Object.assign(Object.create(target) as NatsTarget, {
      async *read(name: string) {
        let n = 0;
        for await (const chunk of target.read(name, START)) {
          if (n++ === 5) throw new Error('cut');
          yield chunk;
        }
      },
    });
    await assert.rejects(
      pullRecording(stopping, entry!, got, () => {}),
      /cut/,
    );
    assert.equal(existsSync(path.join(got, 'b-1.mcap')), false);
    const lines: string[] = [];
    const file = await pullRecording(target, entry!, got, (text) => lines.push(text));
    assert.match(lines.join(), /resuming at 2\.6 MB/);
    assert.equal(sha(readFileSync(file)), sha(bytes));
    assert.deepEqual(
      readdirSync(got).filter((name) => name.includes('.pull')),
      [],
    );
  });

  it('resume an upload to S3 after kill −9', async () => {
    const dir = path.join(folder, 'c');
    const bytes = record(dir, 'c-1', 20);
    const creds = await credentials('arm', 'robot', ['arm']);
    const args = [
      'fleet',
      'push',
      'arm',
      '--creds',
      creds,
      '--recordings',
      dir,
      '--delete',
      '--url',
      server.url,
    ];
    const all = [...args, '--to', 's3://store/farhand', '--endpoint', s3.url];
    Object.assign(process.env, S3_TEST_ENV);
    const child = startFarhand(all);
    s3.onPart = (number) => {
      if (number === 3) child.process.kill('SIGKILL');
    };
    await child.exited;
    assert.equal(child.process.signalCode, 'SIGKILL', child.stderr());
    assert.equal(s3.objects.size, 0);
    s3.onPart = () => {};
    const before = s3.puts;
    // The part in flight may have arrived completely or not at all.
    const [upload] = [...s3.uploads.values()];
    upload!.parts.set(2, Buffer.alloc(upload!.parts.get(2)!.length));
    const again = await farhand(all);
    assert.equal(again.code, 0, again.stderr);
    assert.ok(s3.puts - before <= 2, `the damaged part and the last one: ${s3.puts - before}`);
    assert.equal(sha(s3.objects.get('farhand/arm/c-1.mcap')!.bytes), sha(bytes));
    assert.equal(existsSync(path.join(dir, 'c-1.mcap')), false);
    assert.equal(s3.refused, 0);
    const entry = await (await RecordingIndex.open(robot.nats, 'arm')).get('c-1');
    assert.equal(entry?.places[0]?.where, 's3://store/farhand/arm/c-1.mcap');
    const file = await pullRecording(toS3(), entry!, path.join(folder, 'got'), () => {});
    assert.equal(sha(readFileSync(file)), sha(bytes));
  });

  it('are rejected if a stored byte is wrong, and the file is kept', async () => {
    const dir = path.join(folder, 'd');
    record(dir, 'd-1', 2);
    const target = await NatsTarget.open(robot.nats, 'arm');
    await send(dir, target);
    assert.ok(await target.find('d-1.mcap'));
    // Flip a bit in the middle of the stored bytes.
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const jsm = await jetstreamManager(admin.nats);
    const stream = recordingNames.stream('arm');
    const meta = await jsm.streams.getMessage(stream, {
      last_by_subj: recordingNames.meta('arm', Buffer.from('d-1.mcap').toString('base64url').padEnd(12, '=')),
    });
    const subject = recordingNames.chunks('arm', meta!.json<{ nuid: string }>().nuid);
    const chunks: Uint8Array[] = [];
    for await (const { bytes } of target.read('d-1.mcap', START)) chunks.push(bytes);
    await jsm.streams.purge(stream, { filter: subject });
    chunks[1]![1000]! ^= 1;
    for (const chunk of chunks) await admin.nats.request(subject, chunk);
    await assert.rejects(send(dir, target, true), /was not stored correctly: its SHA-256 is/);
    assert.equal(existsSync(path.join(dir, 'd-1.mcap')), true, 'deleted although the copy is bad');
    const entry = (await (await RecordingIndex.open(robot.nats, 'arm')).get('d-1'))!;
    assert.equal(entry.atRobot, true);
    await send(dir, target, true);
    assert.equal(existsSync(path.join(dir, 'd-1.mcap')), false, 'not deleted after it was sent again');

    const wrong = { ...entry, sha256: sha(Buffer.from('other')) };
    const got = path.join(folder, 'wrong');
    await assert.rejects(
      pullRecording(target, wrong, got, () => {}),
      /does not match its announcement/,
    );
    assert.deepEqual(readdirSync(got), [], 'part of a bad download was kept');
  });

  it('cannot be written or read with credentials for other robots', async () => {
    const dir = path.join(folder, 'e');
    record(dir, 'e-1', 1);
    const eve = await enter('eve', 'operator', ['other']);
    const viewer = await enter('vy', 'viewer', ['arm']);
    const other = await enter('other', 'robot', ['other']);
    const refused = async (who: FleetConnection, subject: string) => {
      const seen: string[] = [];
      void (async () => {
        for await (const status of who.nats.status())
          if (status.type === 'error') seen.push(String(status.error));
      })();
      who.nats.publish(subject, '{}');
      await who.nats.flush();
      await sleep(30);
      return seen.some((text) => /permissions violation/i.test(text));
    };
    const [chunk, meta] = [recordingNames.chunks('arm', 'x'), recordingNames.meta('arm', 'x')];
    const info = `$JS.API.STREAM.INFO.${recordingNames.stream('arm')}`;
    for (const who of [eve, other])
      for (const subject of [chunk, meta, recordingNames.entry('arm', 'x'), info])
        assert.equal(await refused(who, subject), true, subject);
    for (const subject of [chunk, meta, recordingNames.entry('arm', 'x')])
      assert.equal(await refused(viewer, subject), true, subject);
    assert.equal(await refused(viewer, info), false);
    for (const who of [viewer, eve, other])
      assert.equal(await refused(who, `$JS.API.CONSUMER.CREATE.${recordingNames.stream('other')}`), true);
    assert.equal(await refused(robot, `$JS.API.STREAM.PURGE.${recordingNames.stream('arm')}`), true);
  });

  it('are sent once, however often the folder is checked', async () => {
    const dir = path.join(folder, 'f');
    record(dir, 'f-1', 1);
    const creds = await credentials('arm', 'robot', ['arm']);
    const args = ['fleet', 'push', 'arm', '--creds', creds, '--recordings', dir, '--url', server.url];
    const child = startFarhand([...args, '--every', '1']);
    await child.waitFor(/f-1: [\d.]+ MB at nats, verified/);
    record(dir, 'f-2', 1);
    await child.waitFor(/f-2: [\d.]+ MB at nats, verified/);
    assert.equal(await child.end(), 0, child.stderr());
    assert.equal(child.stdout().match(/f-1/g)?.length, 1, child.stdout());
    assert.deepEqual(await send(dir, await NatsTarget.open(robot.nats, 'arm')), [
      'f-1: already at nats',
      'f-2: already at nats',
    ]);
  });

  it('are split into part sizes that S3 accepts, whatever their length', () => {
    assert.equal(partBytesOf(1), 8 << 20);
    const tera = 2 ** 40;
    assert.ok(Math.ceil(tera / partBytesOf(tera)) <= 10_000);
  });
});
