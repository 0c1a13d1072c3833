import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetConnection } from '../../src/fleet/connection.ts';
import { FleetTarget } from '../../src/fleet/recordings/fleet-target.ts';
import { pullRecording } from '../../src/fleet/recordings/pull.ts';
import { pushRecordings } from '../../src/fleet/recordings/push.ts';
import { RecordingIndex } from '../../src/fleet/recordings/recording-index.ts';
import { recordingNames } from '../../src/fleet/recordings.ts';
import { createRecordingBucket } from '../../src/fleet/store/recording-store.ts';
import { subjects } from '../../src/fleet/subjects.ts';
import { emptyInfo, received, rowOf, START_NS, startOf } from '../../src/record/test-episode.ts';
import { EpisodeWriter } from '../../src/record/writer.ts';
import { type ObjectStore, START } from '../../src/s3/object-store.ts';
import { s3ClientOf } from '../../src/s3/s3-place.ts';
import { partBytesOf, S3Target } from '../../src/s3/s3-target.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';
import { farhand, startFarhand } from './farhand.ts';
import { type FleetWorld, startFleetWorld } from './fleet-rig.ts';
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

const nothing = { name: 'x.mcap', file: '', sizeBytes: 1, sha256: '0'.repeat(64) };
const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('recordings of a fleet', { skip }, () => {
  let world: FleetWorld;
  let s3: S3StandIn;
  let robot: FleetConnection;
  const proxies: CutProxy[] = [];
  const folder = temporaryFolder();

  const send = async (dir: string, target: ObjectStore | null, deleteAfter = false) => {
    const lines: string[] = [];
    const index = new RecordingIndex(robot, 'arm');
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
    world = await startFleetWorld(folder);
    s3 = await startS3StandIn();
    await createRecordingBucket(world.admin.nats, 'arm', { maxBytes: 1e9, replicas: 1 });
    await createRecordingBucket(world.admin.nats, 'other', { maxBytes: 1e8, replicas: 1 });
    robot = await world.enter('arm', 'robot', ['arm']);
  });
  after(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await s3?.close();
    await world?.close();
  });

  it('are announced, stored, readable by any NATS client, and deleted only then', async () => {
    const dir = path.join(folder, 'a');
    const bytes = record(dir, 'a-1', 2);
    const viewer = await world.enter('vi', 'viewer', ['arm']);
    const messages: string[] = [];
    viewer.nats.subscribe(subjects.recorded('arm'), {
      callback: (_, message) => void messages.push(message.string()),
    });
    await viewer.nats.flush();
    await send(dir, null);
    assert.equal(existsSync(path.join(dir, 'a-1.mcap')), true);
    const target = new FleetTarget(robot, 'arm');
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
    const index = new RecordingIndex(viewer, 'arm');
    const [entry] = await index.list();
    assert.equal(entry?.sha256, sha(bytes));
    const pulled = await pullRecording(
      new FleetTarget(viewer, 'arm'),
      entry!,
      path.join(folder, 'got'),
      () => {},
    );
    assert.equal(sha(readFileSync(pulled)), sha(bytes));
    const { Objm } = await import('@nats-io/obj');
    const store = await new Objm(world.admin.nats).open(recordingNames.bucket('arm'));
    assert.equal(sha((await store.getBlob('a-1.mcap'))!), sha(bytes), 'as other clients read it');
  });

  it('resume an upload to JetStream after kill −9', async () => {
    const dir = path.join(folder, 'b');
    const bytes = record(dir, 'b-1', 8);
    const creds = await world.credentials('arm', 'robot', ['arm']);
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
    const proxy = await startCutProxy(Number(new URL(world.server.url).port), 4e6, () =>
      child.process.kill('SIGKILL'),
    );
    proxies.push(proxy);
    const child = startFarhand(args(`nats://127.0.0.1:${proxy.port}`));
    await child.exited;
    assert.equal(child.process.signalCode, 'SIGKILL');
    assert.equal(existsSync(path.join(dir, 'b-1.mcap')), true);
    const again = await farhand(args(world.server.url));
    assert.equal(again.code, 0, again.stderr);
    const there = Number(/resuming, ([\d.]+) MB already stored/.exec(again.stdout)?.[1]);
    assert.ok(there >= 3 && there <= 4.2, again.stdout);
    assert.match(again.stdout, /verified[\s\S]*deleted here/);
    assert.equal(existsSync(path.join(dir, 'b-1.mcap')), false);
    const entry = await new RecordingIndex(robot, 'arm').get('b-1');
    assert.equal(entry?.sha256, sha(bytes));
    assert.equal(entry?.atRobot, false);

    const target = new FleetTarget(robot, 'arm');
    const got = path.join(folder, 'got');
    const stopping: ObjectStore = Object.assign(Object.create(target) as FleetTarget, {
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
    const creds = await world.credentials('arm', 'robot', ['arm']);
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
      world.server.url,
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
    const entry = await new RecordingIndex(robot, 'arm').get('c-1');
    assert.equal(entry?.places[0]?.where, 's3://store/farhand/arm/c-1.mcap');
    const file = await pullRecording(toS3(), entry!, path.join(folder, 'got'), () => {});
    assert.equal(sha(readFileSync(file)), sha(bytes));
  });

  it('are rejected if a stored byte is wrong, and the file is kept', async () => {
    const dir = path.join(folder, 'd');
    record(dir, 'd-1', 2);
    const target = new FleetTarget(robot, 'arm');
    await send(dir, target);
    assert.ok(await target.find('d-1.mcap'));
    // Flip a bit in the middle of the stored bytes.
    const { jetstreamManager } = await import('@nats-io/jetstream');
    const jsm = await jetstreamManager(world.admin.nats);
    const stream = recordingNames.stream('arm');
    const meta = await jsm.streams.getMessage(stream, {
      last_by_subj: recordingNames.meta('arm', Buffer.from('d-1.mcap').toString('base64url').padEnd(12, '=')),
    });
    const subject = recordingNames.chunks('arm', meta!.json<{ nuid: string }>().nuid);
    const chunks: Uint8Array[] = [];
    for await (const { bytes } of target.read('d-1.mcap', START)) chunks.push(bytes);
    await jsm.streams.purge(stream, { filter: subject });
    chunks[1]![1000]! ^= 1;
    for (const chunk of chunks) await world.admin.nats.request(subject, chunk);
    await assert.rejects(send(dir, target, true), /was not stored correctly: its SHA-256 is/);
    assert.equal(existsSync(path.join(dir, 'd-1.mcap')), true, 'deleted although the copy is bad');
    const entry = (await new RecordingIndex(robot, 'arm').get('d-1'))!;
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
    const eve = await world.enter('eve', 'operator', ['other']);
    const viewer = await world.enter('vy', 'viewer', ['arm']);
    const other = await world.enter('other', 'robot', ['other']);
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
    const put = subjects.recording('put', 'arm', 'vy');
    assert.equal(await refused(viewer, put), true);
    for (const who of [viewer, eve, other, robot]) {
      const stream = recordingNames.stream('arm');
      for (const call of ['STREAM.INFO', 'STREAM.PURGE', 'DIRECT.GET', 'CONSUMER.CREATE'])
        assert.equal(await refused(who, `$JS.API.${call}.${stream}`), true, `${who.user} ${call}`);
      assert.equal(await refused(who, recordingNames.chunks('arm', 'x')), true, `${who.user} chunks`);
    }
    for (const who of [eve, other]) {
      await assert.rejects(new RecordingIndex(who, 'arm').list(), /do not allow to list recordings of arm/);
      await assert.rejects(send(dir, new FleetTarget(who, 'arm')), /do not allow/);
    }
    await assert.rejects(new FleetTarget(viewer, 'arm').discard(nothing), /do not allow to store/);
  });

  it('keep what one user stored when another stores other bytes under the same name', async () => {
    const [dir, forged] = [path.join(folder, 'g'), path.join(folder, 'forged')];
    const bytes = record(dir, 'g-1', 1);
    record(forged, 'g-1', 2);
    await send(dir, new FleetTarget(robot, 'arm'));
    const mallory = await world.enter('mallory', 'operator', ['arm']);
    const target = new FleetTarget(mallory, 'arm');
    await assert.rejects(send(forged, target), /another user stored other bytes/);
    await target.discard({ ...nothing, name: 'g-1.mcap' });
    assert.equal((await target.find('g-1.mcap'))?.sha256, sha(bytes));
  });

  it('keep what their author announced when another user announces something else', async () => {
    const dir = path.join(folder, 'entry');
    record(dir, 'entry-1', 1);
    await send(dir, new FleetTarget(robot, 'arm'));
    const index = new RecordingIndex(robot, 'arm');
    const entry = (await index.list()).find(({ episode }) => episode === 'entry-1')!;
    const nora = await world.enter('nora', 'operator', ['arm']);
    const other = new RecordingIndex(nora, 'arm');
    await assert.rejects(
      other.put({ ...entry, sha256: '0'.repeat(64) }),
      /another user announced other bytes/,
    );
    await other.put({ ...entry, label: 'success', places: [], rows: 0 });
    const after = (await index.list()).find(({ episode }) => episode === 'entry-1');
    assert.deepEqual(after, { ...entry, label: 'success' });
  });

  it('are sent once, however often the folder is checked', async () => {
    const dir = path.join(folder, 'f');
    record(dir, 'f-1', 1);
    const creds = await world.credentials('arm', 'robot', ['arm']);
    const args = ['fleet', 'push', 'arm', '--creds', creds, '--recordings', dir, '--url', world.server.url];
    const child = startFarhand([...args, '--every', '1']);
    await child.waitFor(/f-1: [\d.]+ MB at nats, verified/);
    record(dir, 'f-2', 1);
    await child.waitFor(/f-2: [\d.]+ MB at nats, verified/);
    assert.equal(await child.end(), 0, child.stderr());
    assert.equal(child.stdout().match(/f-1/g)?.length, 1, child.stdout());
    assert.deepEqual(await send(dir, new FleetTarget(robot, 'arm')), [
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
