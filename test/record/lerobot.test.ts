import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { filesBelow } from '../../src/record/lerobot/dataset-folder.ts';
import { LeRobotWriter, type WriterOptions } from '../../src/record/lerobot/dataset-writer.ts';
import type { DatasetInfo } from '../../src/record/lerobot/layout.ts';
import { tasksParquet } from '../../src/record/lerobot/tables.ts';
import { readVideoTrack } from '../../src/record/mp4/video-track.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { xorshift } from '../xorshift.ts';
import { noQuery, query, rewrite } from './damages.ts';
import { picture, sourceEpisode } from './source-episode.ts';

const OPTIONS: WriterOptions = { fps: 30, codec: 'h264', maxGapS: 1, version: '0.0.0' };
const CAMERAS = ['front', 'wrist'];

async function exported(dir: string, ...episodes: ReturnType<typeof sourceEpisode>[]): Promise<void> {
  const writer = await LeRobotWriter.open(dir, OPTIONS);
  try {
    for (const episode of episodes) await writer.add(episode);
  } finally {
    writer.close();
  }
}

describe('LeRobot export', { skip: needs('ffmpeg') }, () => {
  let root = '';
  let whole = '';

  before(async () => {
    root = temporaryFolder('lerobot');
    whole = path.join(root, 'whole');
    await exported(
      whole,
      sourceEpisode({ id: 'a', seconds: 1, cameras: CAMERAS }),
      sourceEpisode({ id: 'b', seconds: 0.5, cameras: CAMERAS, task: 'lift the lid' }),
    );
  });

  /** A copy to damage. */
  const copy = (name: string): string => {
    const dir = path.join(root, name);
    cpSync(whole, dir, { recursive: true });
    return dir;
  };
  const editInfo = (dir: string, edit: (info: DatasetInfo) => void): void => {
    const file = path.join(dir, 'meta/info.json');
    const info = JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo;
    edit(info);
    writeFileSync(file, JSON.stringify(info));
  };
  it('satisfies every rule, with one file per episode', async () => {
    const { problems, info, episodes } = await checkDataset(whole);
    assert.deepEqual(problems.list, []);
    assert.equal(info?.total_frames, 30 + 15);
    assert.deepEqual(
      episodes.map(({ length, tasks }) => [length, tasks[0]]),
      [
        [30, 'put the cup down'],
        [15, 'lift the lid'],
      ],
    );
    assert.deepEqual(filesBelow(whole).sort(), [
      'data/chunk-000/file-000.parquet',
      'data/chunk-000/file-001.parquet',
      'meta/episodes/chunk-000/file-000.parquet',
      'meta/episodes/chunk-000/file-001.parquet',
      'meta/farhand-files.json',
      'meta/info.json',
      'meta/stats.json',
      'meta/tasks.parquet',
      ...['front', 'wrist'].flatMap((camera) =>
        [0, 1].map((n) => `videos/observation.images.${camera}/chunk-000/file-00${n}.mp4`),
      ),
    ]);
  });

  it('is readable by another engine, with resampled rows joined as recorded', { skip: noQuery }, async () => {
    const source = sourceEpisode({ id: 'a', seconds: 1, cameras: CAMERAS });
    const rows = await query(
      `SELECT index, frame_index, timestamp, "action", "observation.state", "recording.capture_time.front",
       "recording.row_time", "next.done", task_index FROM '${whole}/data/*/*.parquet' ORDER BY index`,
    );
    assert.equal(rows.length, 45);
    const [index, frame, timestamp, action, state, capture, rowTime, done, task] = rows[7]!;
    const row = source.rows[23]!; // the newest at 7/30 s
    assert.deepEqual([Number(index), Number(frame), Number(task), done], [7, 7, 0, false]);
    assert.ok(Math.abs(Number(timestamp) - 7 / 30) < 1e-6);
    assert.deepEqual(action, [...row.commandRad, row.commandGripper].map(Math.fround));
    assert.deepEqual(state, [...row.stateRad, row.stateGripper].map(Math.fround));
    assert.ok(Math.abs(Number(capture) - (row.timeNs - row.frames['front']!.ageNs) / 1e9) < 1e-12);
    assert.ok(Math.abs(Number(rowTime) - 0.23) < 1e-12);
    assert.deepEqual([rows[29]![7], rows[44]![7], Number(rows[30]![1])], [true, true, 0]);
  });

  it('has the statistics that another engine computes', { skip: noQuery }, async () => {
    const stats = JSON.parse(readFileSync(path.join(whole, 'meta/stats.json'), 'utf8')) as Record<
      string,
      Record<string, number[]>
    >;
    const [[mean, std, min, median] = []] = await query(
      `SELECT avg(a[1]), stddev_pop(a[1]), min(a[1]), quantile_cont(a[1], 0.5)
       FROM (SELECT "action" a FROM '${whole}/data/*/*.parquet')`,
    );
    const own = stats['action']!;
    assert.ok(Math.abs(own['mean']![0]! - Number(mean)) < 1e-6);
    assert.ok(Math.abs(own['std']![0]! - Number(std)) < 1e-6);
    assert.ok(Math.abs(own['min']![0]! - Number(min)) < 1e-6);
    assert.equal(own['count']![0], 45);
    // Quantiles of episodes are combined as weighted means, so the median is close but not equal.
    assert.ok(Math.abs(own['q50']![0]! - Number(median)) < 0.2);
    const pictures = stats['observation.images.front']!;
    assert.deepEqual(
      (pictures['mean'] as unknown as number[][][]).map((c) => [c.length, c[0]!.length]),
      [
        [1, 1],
        [1, 1],
        [1, 1],
      ],
    );
  });

  it('has videos at a constant rate in a time unit that divides a frame', () => {
    const track = readVideoTrack(path.join(whole, 'videos/observation.images.front/chunk-000/file-000.mp4'));
    assert.deepEqual(
      [track.codec, track.widthPx, track.heightPx, track.timescale],
      ['h264', 64, 48, 30 * 512],
    );
    assert.deepEqual(
      [...track.timesS],
      Array.from({ length: 30 }, (_, i) => (i * 512) / (30 * 512)),
    );
  });

  it('accepts files that hold several episodes', { skip: noQuery }, async () => {
    const dir = copy('joined');
    rmSync(path.join(dir, 'meta/farhand-files.json'));
    await rewrite(
      dir,
      'data/chunk-000/file-000.parquet',
      `SELECT * FROM read_parquet('${dir}/data/*/*.parquet') ORDER BY index`,
    );
    rmSync(path.join(dir, 'data/chunk-000/file-001.parquet'));
    await rewrite(
      dir,
      'meta/episodes/chunk-000/file-001.parquet',
      'SELECT * REPLACE (0::BIGINT AS "data/file_index") FROM FILE',
    );
    assert.deepEqual((await checkDataset(dir)).problems.list, []);
  });

  it('adds only matching episodes, and only to its own datasets', async () => {
    const dir = copy('appended');
    await exported(dir, sourceEpisode({ id: 'c', seconds: 0.2, cameras: CAMERAS }));
    const { problems, info } = await checkDataset(dir);
    assert.deepEqual(problems.list, []);
    assert.deepEqual([info?.total_episodes, info?.total_frames, info?.total_tasks], [3, 51, 2]);
    assert.deepEqual(
      info?.farhand?.episodes.map(({ id }) => id),
      ['a', 'b', 'c'],
    );
    const other = sourceEpisode({ id: 'd', seconds: 0.2, cameras: ['front'] });
    await assert.rejects(exported(dir, other), { code: 'bad-dataset', message: /observation.images.wrist/ });
    editInfo(dir, (own) => void delete own.features['recording.id']);
    await assert.rejects(exported(dir, other), { code: 'bad-dataset', message: /not written by farhand/ });
  });

  it('removes the leftovers of an interrupted export and keeps the rest', async () => {
    const dir = copy('crashed');
    const data = path.join(dir, 'data/chunk-000');
    writeFileSync(path.join(data, 'file-003.parquet.tmp'), 'half a file');
    writeFileSync(path.join(dir, '.farhand-export'), '999999999');
    await exported(dir, sourceEpisode({ id: 'c', seconds: 0.2, cameras: CAMERAS }));
    assert.deepEqual((await checkDataset(dir)).problems.list, []);
    assert.ok(!existsSync(path.join(data, 'file-003.parquet.tmp')));
  });

  it('survives a crash at any move of an export', async () => {
    const done = copy('done');
    await exported(done, sourceEpisode({ id: 'c', seconds: 0.2, cameras: CAMERAS }));
    const files = filesBelow(done);
    const changed = files.filter(
      (name) =>
        !existsSync(path.join(whole, name)) ||
        !readFileSync(path.join(whole, name)).equals(readFileSync(path.join(done, name))),
    );
    assert.ok(changed.length >= 7);
    for (let moved = 0; moved <= changed.length; moved += 3) {
      const dir = copy(`crashed-${moved}`);
      writeFileSync(path.join(dir, '.farhand-moves'), JSON.stringify(changed));
      for (const [i, name] of changed.entries())
        cpSync(path.join(done, name), path.join(dir, i < moved ? name : `${name}.tmp`));
      (await LeRobotWriter.open(dir, OPTIONS)).close();
      assert.deepEqual(filesBelow(dir).sort(), files.sort());
      assert.deepEqual((await checkDataset(dir, 'none')).problems.list, []);
    }
  });

  it('adds to a dataset whose episodes another program has deleted and renumbered', {
    skip: noQuery,
  }, async () => {
    const dir = copy('renumbered');
    for (const folder of ['data', 'meta/episodes', ...CAMERAS.map((c) => `videos/observation.images.${c}`)])
      for (const name of filesBelow(path.join(dir, folder)))
        if (/file-000/.test(name)) rmSync(path.join(dir, folder, name));
    await rewrite(
      dir,
      'data/chunk-000/file-001.parquet',
      'SELECT * REPLACE (0::BIGINT AS episode_index, frame_index AS index, 0::BIGINT AS task_index) FROM FILE',
    );
    await rewrite(
      dir,
      'meta/episodes/chunk-000/file-001.parquet',
      'SELECT * REPLACE (0::BIGINT AS episode_index, 0::BIGINT AS dataset_from_index, 15::BIGINT AS dataset_to_index) FROM FILE',
    );
    const { stats } = (await checkDataset(dir, 'none')).episodes[0]!;
    const text = JSON.stringify(stats, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    writeFileSync(path.join(dir, 'meta/stats.json'), text);
    writeFileSync(path.join(dir, 'meta/tasks.parquet'), tasksParquet(['lift the lid']));
    editInfo(dir, (info) => {
      delete info.farhand;
      const totals = { total_episodes: 1, total_frames: 15, total_tasks: 1 };
      Object.assign(info, { ...totals, splits: { train: '0:1' } });
    });
    assert.deepEqual((await checkDataset(dir, 'none')).problems.list, []);
    const writer = await LeRobotWriter.open(dir, OPTIONS);
    assert.deepEqual(
      ['a', 'b'].map((id) => writer.has(id)),
      [false, true],
    );
    await writer.add(sourceEpisode({ id: 'a', seconds: 1, cameras: CAMERAS }));
    writer.close();
    const { problems, info } = await checkDataset(dir, 'all');
    assert.deepEqual(problems.list, []);
    assert.deepEqual([info?.total_episodes, info?.total_frames], [2, 45]);
  });

  it('rejects an invalid episode and leaves the dataset unchanged', async () => {
    const dir = copy('rejected');
    const filesBefore = filesBelow(dir);
    const addEdited = (edit: (episode: ReturnType<typeof sourceEpisode>) => void) => {
      const episode = sourceEpisode({ id: 'x', seconds: 0.4, cameras: CAMERAS });
      edit(episode);
      return exported(dir, episode);
    };
    await assert.rejects(
      addEdited(({ rows }) => {
        rows[10]!.stateRad[2] = Number.NaN;
      }),
      { code: 'bad-episode', message: /row 10: the state/ },
    );
    await assert.rejects(
      addEdited(({ rows }) => void rows[10]!.commandRad.pop()),
      { code: 'bad-episode', message: /5 joints, expected 6/ },
    );
    await assert.rejects(
      addEdited(({ received }) => void received.get('wrist')!.splice(4, 1)),
      { code: 'bad-episode', message: /camera wrist: the picture of row 5/ },
    );
    await assert.rejects(
      addEdited(({ received }) => {
        received.get('wrist')![6]!.bytes = picture(0, 32, 48);
      }),
      { code: 'bad-episode', message: /32 × 48/ },
    );
    await assert.rejects(
      addEdited(({ rows }) =>
        rows.slice(20).forEach((row) => {
          row.timeNs += 2e9;
        }),
      ),
      { code: 'bad-episode', message: /between rows 19 and 20/ },
    );
    assert.deepEqual(filesBelow(dir), filesBefore);
    assert.deepEqual((await checkDataset(dir)).problems.list, []);
  });

  it('pads pictures of odd size, and works without a gripper', async () => {
    const dir = path.join(root, 'odd');
    await exported(dir, sourceEpisode({ id: 'a', seconds: 0.3, widthPx: 65, heightPx: 49, joints: 12 }));
    const { problems, info } = await checkDataset(dir);
    assert.deepEqual(problems.list, []);
    assert.deepEqual(info?.features['observation.images.front']?.shape, [50, 66, 3]);
    assert.deepEqual(info?.features['action']?.shape, [12]);
  });

  it('handles arbitrary bytes in place of a video or its metadata', async () => {
    const dir = copy('garbage');
    const video = path.join(dir, 'videos/observation.images.front/chunk-000/file-000.mp4');
    const bytes = readFileSync(video);
    const random = xorshift(7);
    for (let round = 0; round < 300; round++) {
      const damaged = Buffer.from(bytes);
      for (let i = 0; i < 3; i++) damaged[Math.floor(random() * 1500)] = Math.floor(random() * 256);
      writeFileSync(video, damaged);
      try {
        assert.ok(readVideoTrack(video).timesS.length <= 1e7);
      } catch (error) {
        assert.ok(error instanceof Error && error.name !== 'AssertionError', String(error));
      }
    }
    for (const text of [
      '',
      'null',
      '[]',
      '{"fps": 30}',
      '{"fps":30,"features":{"a":null}}',
      '{"fps":30,"features":{},"data_path":4}',
    ]) {
      writeFileSync(path.join(dir, 'meta/info.json'), text);
      assert.ok((await checkDataset(dir)).problems.total > 0, text);
    }
  });
});

describe('LeRobot export of an episode without cameras', () => {
  it('needs no encoder', async () => {
    const dir = temporaryFolder('lerobot');
    const before = process.env['PATH'];
    process.env['PATH'] = dir;
    try {
      await exported(path.join(dir, 'data'), sourceEpisode({ id: 'a', seconds: 0.5, cameras: [] }));
      assert.deepEqual((await checkDataset(path.join(dir, 'data'))).problems.list, []);
    } finally {
      process.env['PATH'] = before;
      rmSync(dir, { recursive: true });
    }
  });
});
