import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openPlace } from '../../src/publish/place.ts';
import { pullDataset } from '../../src/publish/pull.ts';
import { pushDataset } from '../../src/publish/push.ts';
import { deleteEpisodes } from '../../src/record/edit/edits.ts';
import { LeRobotWriter } from '../../src/record/lerobot/dataset-writer.ts';
import { needs } from '../needs.ts';
import { sourceEpisode } from '../record/source-episode.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { HUB_TEST_TOKEN, type HubStandIn, startHubStandIn } from './hub-stand-in.ts';
import { S3_TEST_ENV, type S3StandIn, startS3StandIn } from './s3-stand-in.ts';

const quiet = { progress: () => {} };

function contents(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)))
    .sort();
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(path.join(dir, name)).toString('base64')]),
  );
}

describe('publishing a dataset', { skip: needs('ffmpeg') }, () => {
  let root = '';
  let whole = '';
  let hub: HubStandIn;
  let s3: S3StandIn;
  let count = 0;
  const fresh = (): string => path.join(root, `place-${count++}`);
  const copy = (): string => {
    const dir = fresh();
    cpSync(whole, dir, { recursive: true });
    return dir;
  };
  const onHub = (name: string, token = HUB_TEST_TOKEN) =>
    openPlace(`hf://${name}`, { HF_ENDPOINT: hub.url, HF_TOKEN: token, HF_HOME: root });
  const onS3 = (name: string) => openPlace(`s3://datasets/${name}`, S3_TEST_ENV, { endpoint: s3.url });

  before(async () => {
    root = temporaryFolder('publish');
    whole = path.join(root, 'whole');
    const writer = await LeRobotWriter.open(whole, { fps: 30, codec: 'h264', maxGapS: 1, version: '0.0.0' });
    for (const id of ['a', 'b', 'c']) await writer.add(sourceEpisode({ id, seconds: 0.5 }));
    writer.close();
    hub = await startHubStandIn();
    s3 = await startS3StandIn();
  });
  after(async () => {
    await hub.close();
    await s3.close();
    rmSync(root, { recursive: true, force: true });
  });

  for (const [kind, open] of [
    ['a hub', onHub],
    ['S3', onS3],
  ] as const) {
    it(`comes back from ${kind} byte for byte; pushing again sends nothing`, async () => {
      const dir = copy();
      const pushed = await pushDataset(dir, await open('me/cups'), quiet);
      assert.equal(pushed.sentFiles, pushed.files);
      const again = await pushDataset(dir, await open('me/cups'), quiet);
      assert.deepEqual([again.sentFiles, again.removedFiles], [0, 0]);
      const back = fresh();
      const pulled = await pullDataset(await open('me/cups'), back, () => {});
      assert.deepEqual(pulled.problems, []);
      assert.deepEqual([pulled.episodes, pulled.rows], [3, 45]);
      assert.deepEqual(contents(back), contents(dir));
    });

    it(`follows an edit on ${kind}: removed files are gone, unchanged ones are not sent`, async () => {
      const dir = copy();
      await pushDataset(dir, await open('me/edited'), quiet);
      await deleteEpisodes(dir, [2]);
      const pushed = await pushDataset(dir, await open('me/edited'), quiet);
      // A data file, a video, and two descriptions: an edit joins them all in the first file.
      assert.ok(pushed.removedFiles === 4 && pushed.sentFiles < pushed.files, JSON.stringify(pushed));
      const back = fresh();
      await pullDataset(await open('me/edited'), back, () => {});
      assert.deepEqual(contents(back), contents(dir));
    });
  }

  it('rejects a broken dataset before anything is sent', async () => {
    const dir = copy();
    rmSync(path.join(dir, 'data/chunk-000/file-001.parquet'));
    await assert.rejects(
      pushDataset(dir, await onHub('me/broken'), quiet),
      /is not published: .*file-missing/,
    );
    assert.ok(!hub.repos.has('me/broken'));
  });

  it('creates a private dataset, tagged with the version LeRobot looks for', async () => {
    const dir = copy();
    await pushDataset(dir, await onHub('me/private'), { ...quiet, license: 'apache-2.0' });
    const repo = hub.repos.get('me/private')!;
    assert.ok(repo.isPrivate);
    assert.equal(repo.tags.get('v3.0'), repo.commits.at(-1)!.id);
    assert.match(readFileSync(path.join(dir, 'README.md'), 'utf8'), /^---\nlicense: apache-2\.0\n/);
    const { sentFiles } = await pushDataset(dir, await onHub('me/private'), quiet);
    assert.equal(sentFiles, 0, 'the licence stays');
    await assert.rejects(
      pullDataset(await onHub('me/private', ''), fresh(), () => {}),
      /not a LeRobot v3 dataset/,
    );
  });

  it('keeps a card that a person wrote', async () => {
    const dir = copy();
    writeFileSync(path.join(dir, 'README.md'), '# mine\n');
    await pushDataset(dir, await onHub('me/own-card'), quiet);
    assert.equal(
      hub.repos.get('me/own-card')!.commits.at(-1)!.files.get('README.md')!.bytes.toString(),
      '# mine\n',
    );
  });

  it('continues an interrupted push to a hub, whose readers never see half of it', async () => {
    const dir = copy();
    hub.large.clear();
    hub.uploads = [];
    hub.onUpload = (n) => n <= 4;
    await assert.rejects(
      pushDataset(dir, await onHub('me/cut'), quiet),
      /run the same command again|fetch failed|closed/i,
    );
    await hub.idle();
    assert.equal(hub.repos.get('me/cut')!.commits.length, 1);
    const arrived = new Set(hub.large.keys());
    assert.ok(arrived.size > 0);
    hub.onUpload = () => true;
    hub.uploads = [];
    await pushDataset(dir, await onHub('me/cut'), quiet);
    assert.ok(hub.uploads.length > 0);
    assert.deepEqual(
      hub.uploads.filter((oid) => arrived.has(oid)),
      [],
    );
    assert.equal(hub.repos.get('me/cut')!.commits.length, 2);
  });

  it('continues an interrupted pull inside a file', async () => {
    const dir = copy();
    await pushDataset(dir, await onHub('me/half'), quiet);
    const back = fresh();
    const big = 'data/chunk-000/file-001.parquet';
    let asked = 0;
    hub.onDownload = (name, bytes) => (name === big && bytes > 1000 && asked++ === 0 ? 1000 : bytes);
    await assert.rejects(pullDataset(await onHub('me/half'), back, () => {}));
    assert.ok(!existsSync(back));
    hub.onDownload = (_, bytes) => bytes;
    const { fetchedBytes } = await pullDataset(await onHub('me/half'), back, () => {});
    const total = Object.values(contents(dir)).reduce(
      (sum, each) => sum + Buffer.from(each, 'base64').length,
      0,
    );
    assert.ok(fetchedBytes <= total - 1000, `${fetchedBytes} of ${total}`);
    assert.deepEqual(contents(back), contents(dir));
  });

  it('pulls the newest version alone, whatever an interrupted pull left of the one before', async () => {
    const dir = copy();
    await pushDataset(dir, await onHub('me/moved'), quiet);
    const back = fresh();
    const big = 'data/chunk-000/file-001.parquet';
    hub.onDownload = (name, bytes) => (name === big && bytes > 1000 ? 1000 : bytes);
    await assert.rejects(pullDataset(await onHub('me/moved'), back, () => {}));
    hub.onDownload = (_, bytes) => bytes;
    await deleteEpisodes(dir, [0]);
    await pushDataset(dir, await onHub('me/moved'), quiet);
    const { problems } = await pullDataset(await onHub('me/moved'), back, () => {});
    assert.deepEqual(problems, []);
    assert.deepEqual(contents(back), contents(dir));
  });

  it('finishes a push that was killed after its last file: the tag on a hub, removed objects on S3', async () => {
    const dir = copy();
    await pushDataset(dir, await onHub('me/untagged'), quiet);
    const repo = hub.repos.get('me/untagged')!;
    for (const stale of [null, '0'.repeat(40)]) {
      repo.tags.delete('v3.0');
      if (stale !== null) repo.tags.set('v3.0', stale);
      const { sentFiles } = await pushDataset(dir, await onHub('me/untagged'), quiet);
      assert.deepEqual([sentFiles, repo.tags.get('v3.0')], [0, repo.commits.at(-1)!.id]);
    }
    await pushDataset(dir, await onS3('orphans'), quiet);
    const orphan = 'orphans/data/chunk-000/file-002.parquet';
    const removed = s3.objects.get(orphan)!;
    await deleteEpisodes(dir, [2]);
    await pushDataset(dir, await onS3('orphans'), quiet);
    s3.objects.set(orphan, removed);
    await pushDataset(dir, await onS3('orphans'), quiet);
    assert.ok(!s3.objects.has(orphan));
  });

  it('notices bytes that changed in the store', async () => {
    const dir = copy();
    await pushDataset(dir, await onS3('forged'), quiet);
    const object = s3.objects.get('forged/data/chunk-000/file-000.parquet')!;
    object.bytes = Buffer.from(object.bytes);
    object.bytes[100]! ^= 1;
    await assert.rejects(
      pullDataset(await onS3('forged'), fresh(), () => {}),
      /its hash is not the announced one/,
    );
  });

  it('writes nothing outside its folder, whatever names a store announces', async () => {
    const dir = copy();
    await pushDataset(dir, await onS3('names'), quiet);
    const manifest = s3.objects.get('names/farhand-manifest.json')!;
    const parsed = JSON.parse(manifest.bytes.toString()) as { files: Record<string, object> };
    for (const name of [
      '../evil.json',
      'meta/../../evil.json',
      '/etc/evil.json',
      'data/.../x.json',
      'evil.sh',
    ])
      parsed.files[name] = {
        sizeBytes: 0,
        sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      };
    manifest.bytes = Buffer.from(JSON.stringify(parsed));
    const back = fresh();
    await pullDataset(await onS3('names'), back, () => {});
    assert.deepEqual(contents(back), contents(dir));
    assert.deepEqual(
      readdirSync(root).filter((name) => name.includes('evil')),
      [],
    );
  });

  it('gives a remedy for a wrong token and a wrong address', async () => {
    await assert.rejects(
      pushDataset(copy(), await onHub('me/none', 'hf_wrongwrongwrong'), quiet),
      (error: Error) => /HF_TOKEN/.test((error as Error & { hint: string }).hint),
    );
    await assert.rejects(openPlace('cups', {}), /not a place for datasets/);
  });
});
