import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  deleteEpisodes,
  mergeDatasets,
  recomputeStats,
  relabel,
  splitDataset,
  trimEpisode,
} from '../../src/record/edit/edits.ts';
import { finishSwap } from '../../src/record/edit/swap.ts';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { LeRobotWriter, type WriterOptions } from '../../src/record/lerobot/dataset-writer.ts';
import { decodeSmall } from '../../src/record/lerobot/small-pictures.ts';
import { readVideoTrack } from '../../src/record/mp4/video-track.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DAMAGES, noQuery, query } from './damages.ts';
import { sourceEpisode } from './source-episode.ts';

const CAMERAS = ['front'];
const OPTIONS: WriterOptions = { fps: 30, codec: 'h264', maxGapS: 1, version: '0.0.0' };
const FRONT = 'videos/observation.images.front/chunk-000';

describe('dataset edits', { skip: needs('ffmpeg') || noQuery }, () => {
  let root = '';
  let whole = '';
  let count = 0;

  before(async () => {
    root = temporaryFolder('edit');
    whole = path.join(root, 'whole');
    const writer = await LeRobotWriter.open(whole, OPTIONS);
    await writer.add(sourceEpisode({ id: 'a', seconds: 1, cameras: CAMERAS }));
    await writer.add(sourceEpisode({ id: 'b', seconds: 0.5, cameras: CAMERAS, task: 'lift the lid' }));
    await writer.add(sourceEpisode({ id: 'c', seconds: 0.8, cameras: CAMERAS }));
    writer.close();
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const copy = (): string => {
    const dir = path.join(root, `copy-${count++}`);
    cpSync(whole, dir, { recursive: true });
    return dir;
  };
  /** Lengths and tasks, after every rule was checked with every picture decoded. */
  const sound = async (dir: string): Promise<[number, string][]> => {
    const { problems, episodes } = await checkDataset(dir, 'all');
    assert.deepEqual(problems.list, []);
    return episodes.map(({ length, tasks }) => [length, tasks.join()]);
  };
  const actions = (dir: string): Promise<unknown[][]> =>
    query(`SELECT "action", "recording.row_time" FROM '${dir}/data/*/*.parquet' ORDER BY index`);

  it('deletes an episode in place, keeping the others byte for byte', async () => {
    const dir = copy();
    mkdirSync(path.join(dir, '.git'));
    for (const name of ['README.md', '.git/config']) writeFileSync(path.join(dir, name), 'mine');
    const { videos } = await deleteEpisodes(dir, [1]);
    for (const name of ['README.md', '.git/config'])
      assert.equal(readFileSync(path.join(dir, name), 'utf8'), 'mine');
    assert.deepEqual(videos, { kept: 2, cut: 0, encoded: 0 });
    assert.deepEqual(await sound(dir), [
      [30, 'put the cup down'],
      [24, 'put the cup down'],
    ]);
    const before = await actions(whole);
    assert.deepEqual(await actions(dir), [...before.slice(0, 30), ...before.slice(45)]);
    assert.ok(
      readFileSync(path.join(dir, FRONT, 'file-001.mp4')).equals(
        readFileSync(path.join(whole, FRONT, 'file-002.mp4')),
      ),
    );
    assert.deepEqual(
      (await checkDataset(dir, 'none')).info?.farhand?.episodes.map(({ id }) => id),
      ['a', 'c'],
    );
    const writer = await LeRobotWriter.open(dir, OPTIONS);
    assert.deepEqual([writer.has('b'), writer.has('c')], [false, true]);
    await writer.add(sourceEpisode({ id: 'b', seconds: 0.5, cameras: CAMERAS, task: 'lift the lid' }));
    writer.close();
    assert.equal((await sound(dir)).length, 3);
  });

  /** A row of the first episode that cannot be decoded alone, after one that can. */
  const dependent = (): number => {
    const { isKey } = readVideoTrack(path.join(whole, FRONT, 'file-000.mp4')).samples;
    const row = isKey.findIndex((key, i) => i > 4 && key === 0 && isKey[i - 1] === 1);
    assert.ok(row > 4 && row < 24);
    return row;
  };

  it('trims without encoding, at the key picture before', async () => {
    const dir = copy();
    const row = dependent();
    const start = row - 1;
    const { videos, first } = await trimEpisode(dir, { episode: 0, fromS: row / 30, toS: 0.8 });
    assert.equal(first, start);
    assert.deepEqual(videos, { kept: 2, cut: 1, encoded: 0 });
    assert.deepEqual((await sound(dir))[0], [24 - start, 'put the cup down']);
    assert.deepEqual((await actions(dir)).slice(0, 24 - start), (await actions(whole)).slice(start, 24));
    const [cut, source] = await Promise.all([
      decodeSmall(path.join(dir, FRONT, 'file-000.mp4'), 0, 24 - start, 30),
      decodeSmall(path.join(whole, FRONT, 'file-000.mp4'), start, 24 - start, 30),
    ]);
    assert.deepEqual(cut.pictures, source.pictures);
  });

  it('trims exactly by encoding only that episode', async () => {
    const dir = copy();
    const row = dependent();
    const { videos, first } = await trimEpisode(dir, { episode: 0, fromS: row / 30, exact: true });
    assert.equal(first, row);
    assert.deepEqual(videos, { kept: 2, cut: 0, encoded: 1 });
    assert.deepEqual((await sound(dir))[0], [30 - row, 'put the cup down']);
  });

  it('splits into new datasets and merges them again', async () => {
    const dir = copy();
    const made = await splitDataset(
      dir,
      new Map([
        ['odd', [1]],
        ['even', [0, 2]],
      ]),
    );
    assert.deepEqual(
      made.map(({ episodes, rows }) => [episodes, rows]),
      [
        [1, 15],
        [2, 54],
      ],
    );
    const both = path.join(root, 'both');
    await mergeDatasets([`${dir}-odd`, `${dir}-even`], both);
    assert.deepEqual(await sound(both), [
      [15, 'lift the lid'],
      [30, 'put the cup down'],
      [24, 'put the cup down'],
    ]);
    assert.deepEqual(await sound(dir), await sound(whole));
    await assert.rejects(mergeDatasets([dir, both], both), { code: 'bad-option', message: /exists already/ });
    const inner = path.join(dir, 'both');
    await assert.rejects(mergeDatasets([dir, both], inner), { code: 'bad-option', message: /is inside/ });
  });

  it('rejects a dataset that differs, and an edit that leaves nothing', async () => {
    const other = path.join(root, 'other');
    const writer = await LeRobotWriter.open(other, OPTIONS);
    await writer.add(sourceEpisode({ id: 'x', seconds: 0.4, cameras: ['wrist'] }));
    writer.close();
    await assert.rejects(mergeDatasets([whole, other], path.join(root, 'none')), {
      code: 'bad-dataset',
      message: /observation.images.front/,
    });
    await assert.rejects(deleteEpisodes(other, [0]), { message: /no episode would be left/ });
    await assert.rejects(deleteEpisodes(other, [7]), { message: /has no episode 7/ });
  });

  it('gives episodes another task', async () => {
    const dir = copy();
    await relabel(dir, 'wave', [0, 1]);
    assert.deepEqual(await sound(dir), [
      [30, 'wave'],
      [15, 'wave'],
      [24, 'put the cup down'],
    ]);
  });

  it('computes statistics again', async () => {
    const dir = copy();
    for (const what of ['a wrong mean', 'a zero deviation', 'a wrong mean of an episode'])
      await DAMAGES.find((damage) => damage.what === what)!.apply(dir);
    assert.ok((await checkDataset(dir, 'none')).problems.total > 0);
    await recomputeStats(dir);
    await sound(dir);
  });

  it('leaves a damaged dataset unchanged', async () => {
    const dir = copy();
    await DAMAGES.find(({ what }) => what === 'half a video')!.apply(dir);
    await assert.rejects(deleteEpisodes(dir, [1]), { code: 'bad-dataset', message: /video-data/ });
    assert.equal((await checkDataset(dir, 'none')).episodes.length, 3);
  });

  it('has either the old or the new dataset after a crash at any step', async () => {
    const dir = copy();
    const edited = copy();
    await deleteEpisodes(edited, [1]);
    const [next, old] = [`${dir}.farhand-new`, `${dir}.farhand-old`];
    const lengths = async () => {
      finishSwap(dir);
      assert.ok(!existsSync(old));
      const { problems, episodes } = await checkDataset(dir, 'none');
      assert.deepEqual(problems.list, []);
      return episodes.length;
    };
    cpSync(edited, next, { recursive: true });
    assert.equal(await lengths(), 3, 'before the first rename');
    writeFileSync(path.join(dir, 'README.md'), 'mine');
    renameSync(dir, old);
    assert.equal(await lengths(), 2, 'between the renames');
    assert.equal(readFileSync(path.join(dir, 'README.md'), 'utf8'), 'mine');
    cpSync(whole, old, { recursive: true });
    assert.equal(await lengths(), 2, 'after the second rename');
    cpSync(whole, next, { recursive: true });
    rmSync(path.join(next, 'meta/info.json'));
    await relabel(dir, 'wave', null);
    assert.equal(await lengths(), 2, 'beside half a dataset of an earlier crash');
    assert.deepEqual(
      readdirSync(root).filter((name) => name.includes('.farhand-')),
      [],
    );
  });
});
