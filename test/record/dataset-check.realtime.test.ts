import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { relabel } from '../../src/record/edit/edits.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import type { Decode } from '../../src/record/lerobot/check-pictures.ts';
import { LeRobotWriter } from '../../src/record/lerobot/dataset-writer.ts';
import { DIGEST_FILE } from '../../src/record/lerobot/digests.ts';
import type { DatasetInfo } from '../../src/record/lerobot/layout.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DAMAGES, DATA, noQuery, rewrite } from './damages.ts';
import { sourceEpisode } from './source-episode.ts';

const CAMERAS = ['front', 'wrist'];

describe('dataset check', { skip: needs('ffmpeg') || noQuery }, () => {
  let root = '';
  let whole = '';

  before(async () => {
    root = temporaryFolder('damage');
    whole = path.join(root, 'whole');
    const writer = await LeRobotWriter.open(whole, { fps: 30, codec: 'h264', maxGapS: 1, version: '0.0.0' });
    await writer.add(sourceEpisode({ id: 'a', seconds: 1, cameras: CAMERAS }));
    await writer.add(sourceEpisode({ id: 'b', seconds: 0.5, cameras: CAMERAS, task: 'lift the lid' }));
    writer.close();
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const problemsOf = async (dir: string, decode: Decode): Promise<string[]> => {
    const { problems } = await checkDataset(dir, decode);
    return problems.list.map(({ rule, file, message }) => `${rule}: ${file}: ${message}`);
  };
  /** A copy without checksums, as if another program had written it. */
  const copy = async <T>(use: (dir: string) => Promise<T>): Promise<T> => {
    const dir = path.join(root, 'copy');
    cpSync(whole, dir, { recursive: true });
    rmSync(path.join(dir, DIGEST_FILE));
    try {
      return await use(dir);
    } finally {
      rmSync(dir, { recursive: true });
    }
  };

  it('passes a healthy dataset with every picture decoded', async () => {
    const { problems, pictures } = await checkDataset(whole, 'all');
    assert.deepEqual(problems.list, []);
    assert.deepEqual(pictures, { decoded: 90, total: 90, skipped: '' });
    assert.deepEqual(await copy((dir) => problemsOf(dir, 'all')), []);
  });

  it('passes what other programs make of it: links to files as in a hub’s cache, other compression, channels first', () =>
    copy(async (dir) => {
      for (const name of readdirSync(dir, { recursive: true }).map(String)) {
        const file = path.join(dir, name);
        if (!/\.(parquet|mp4)$/.test(name)) continue;
        if (name.startsWith('data')) await rewrite(dir, name, 'SELECT * FROM FILE', ', COMPRESSION gzip');
        const blob = path.join(root, 'blobs', name.replaceAll('/', '-'));
        mkdirSync(path.dirname(blob), { recursive: true });
        renameSync(file, blob);
        symlinkSync(path.relative(path.dirname(file), blob), file);
      }
      const file = path.join(dir, 'meta/info.json');
      const info = JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo;
      for (const feature of Object.values(info.features))
        if (feature.dtype === 'video') {
          const [height = 0, width = 0, channels = 0] = feature.shape;
          Object.assign(feature, {
            shape: [channels, height, width],
            names: ['channels', 'height', 'width'],
          });
        }
      writeFileSync(file, JSON.stringify(info));
      assert.deepEqual(await problemsOf(dir, 'all'), []);
      await relabel(dir, 'wave', [0]);
      assert.deepEqual(await problemsOf(dir, 'all'), []);
      rmSync(path.join(root, 'blobs'), { recursive: true });
      assert.deepEqual(await problemsOf(dir, 'all'), [], 'an edited dataset does not need the cache');
    }));

  it('knows at least 40 kinds of damage', () => {
    assert.ok(new Set(DAMAGES.map(({ what }) => what)).size >= 40);
  });

  for (const { what, rule, decodes, apply } of DAMAGES)
    it(`finds ${what}: ${rule}`, () =>
      copy(async (dir) => {
        await apply(dir);
        const found = await problemsOf(dir, decodes ? 'sample' : 'none');
        assert.ok(
          found.some((problem) => problem.startsWith(`${rule}: `)),
          found.join('\n') || 'nothing was found',
        );
      }));

  it('names a single changed byte in a dataset of ours', async () => {
    const dir = path.join(root, 'flipped');
    cpSync(whole, dir, { recursive: true });
    const file = path.join(dir, 'videos/observation.images.wrist/chunk-000/file-000.mp4');
    const bytes = readFileSync(file);
    bytes[bytes.length - 40]! ^= 1;
    writeFileSync(file, bytes);
    assert.match((await problemsOf(dir, 'none')).join('\n'), /^digest: videos\/observation.images.wrist/);
  });

  it('finds swapped, leaping and absurd values in a dataset that has neither limits nor brightness', () =>
    copy(async (dir) => {
      const file = path.join(dir, 'meta/info.json');
      const info = JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo;
      delete info.farhand;
      for (const key of Object.keys(info.features))
        if (key.startsWith('recording.')) delete info.features[key];
      writeFileSync(file, JSON.stringify(info));
      const kept = "SELECT COLUMNS(c -> NOT c LIKE 'recording.%') FROM FILE";
      for (const name of DATA) await rewrite(dir, name, kept);
      assert.deepEqual(await problemsOf(dir, 'sample'), []);
      const swap = DAMAGES.find(({ what }) => what === 'swapped cameras')!;
      await swap.apply(dir);
      assert.match((await problemsOf(dir, 'sample')).join('\n'), /stats: meta\/episodes.*images.front.mean/);
      await swap.apply(dir);
      const absurd = DAMAGES.find(({ what }) => what === 'an action of 1e6 rad')!;
      await absurd.apply(dir);
      assert.match(
        (await problemsOf(dir, 'none')).join('\n'),
        /jump: data\/chunk-000\/file-000.parquet: action\[0\]/,
      );
    }));
});
