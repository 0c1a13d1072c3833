import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { checkDataset } from '../../src/record/lerobot/check.ts';
import { filesBelow } from '../../src/record/lerobot/dataset-folder.ts';
import { LeRobotWriter, type WriterOptions } from '../../src/record/lerobot/dataset-writer.ts';
import type { DatasetInfo } from '../../src/record/lerobot/layout.ts';
import { readVideoTrack } from '../../src/record/lerobot/mp4.ts';
import type { Rule } from '../../src/record/lerobot/problems.ts';
import { needs } from '../needs.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { xorshift } from '../xorshift.ts';
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

async function query(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
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
  const rulesOf = async (dir: string): Promise<Rule[]> => {
    const { problems } = await checkDataset(dir);
    return [...new Set(problems.list.map(({ rule }) => rule))];
  };
  const editInfo = (dir: string, edit: (info: DatasetInfo) => void): void => {
    const file = path.join(dir, 'meta/info.json');
    const info = JSON.parse(readFileSync(file, 'utf8')) as DatasetInfo;
    edit(info);
    writeFileSync(file, JSON.stringify(info));
  };
  /** Rewrites a Parquet file with a query on it. */
  const rewrite = async (dir: string, file: string, select: string): Promise<void> => {
    const from = path.join(dir, file);
    await query(`COPY (${select.replace('FILE', `'${from}'`)}) TO '${from}.new' (FORMAT parquet)`);
    renameSync(`${from}.new`, from);
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
      'meta/info.json',
      'meta/stats.json',
      'meta/tasks.parquet',
      ...['front', 'wrist'].flatMap((camera) =>
        [0, 1].map((n) => `videos/observation.images.${camera}/chunk-000/file-00${n}.mp4`),
      ),
    ]);
  });

  it('is readable by another engine, with resampled rows joined as recorded', async () => {
    const source = sourceEpisode({ id: 'a', seconds: 1, cameras: CAMERAS });
    const rows = await query(
      `SELECT index, frame_index, timestamp, "action", "observation.state", "observation.capture_time.front",
       "observation.row_time", "next.done", task_index FROM '${whole}/data/*/*.parquet' ORDER BY index`,
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

  it('has the statistics that another engine computes', async () => {
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

  const DEFECTS: [string, Rule, (dir: string) => void | Promise<void>][] = [
    ['a wrong total', 'totals', (dir) => editInfo(dir, (info) => void info.total_frames++)],
    [
      'an older version',
      'version',
      (dir) =>
        editInfo(dir, (info) => {
          info.codebase_version = 'v2.1';
        }),
    ],
    [
      'an undeclared column',
      'columns',
      (dir) => editInfo(dir, (info) => void delete info.features['next.done']),
    ],
    [
      'a video of another size',
      'video-size',
      (dir) =>
        editInfo(dir, (info) => {
          info.features['observation.images.front']!.shape = [96, 64, 3];
        }),
    ],
    [
      'irregular timestamps',
      'timestamp',
      (dir) =>
        rewrite(
          dir,
          'data/chunk-000/file-000.parquet',
          'SELECT * REPLACE ((timestamp + CASE WHEN frame_index = 9 THEN 0.001 ELSE 0 END)::FLOAT AS timestamp) FROM FILE',
        ),
    ],
    [
      'an index that restarts',
      'index',
      (dir) =>
        rewrite(dir, 'data/chunk-000/file-001.parquet', 'SELECT * REPLACE (frame_index AS index) FROM FILE'),
    ],
    [
      'a vector that is too short',
      'vector-length',
      (dir) =>
        rewrite(
          dir,
          'data/chunk-000/file-000.parquet',
          'SELECT * REPLACE (CASE WHEN frame_index = 3 THEN "action"[1:6] ELSE "action" END AS "action") FROM FILE',
        ),
    ],
    [
      'a value that is not a number',
      'finite',
      (dir) =>
        rewrite(
          dir,
          'data/chunk-000/file-000.parquet',
          `SELECT * REPLACE (CASE WHEN frame_index = 4 THEN ['nan'::FLOAT, 0, 0, 0, 0, 0, 0] ELSE "action" END AS "action") FROM FILE`,
        ),
    ],
    [
      'a value that is missing',
      'finite',
      (dir) =>
        rewrite(
          dir,
          'data/chunk-000/file-000.parquet',
          'SELECT * REPLACE (CASE WHEN frame_index = 4 THEN NULL ELSE "action" END AS "action") FROM FILE',
        ),
    ],
    [
      'a missing row',
      'episode-range',
      (dir) => rewrite(dir, 'data/chunk-000/file-001.parquet', 'SELECT * FROM FILE WHERE frame_index < 14'),
    ],
    [
      'a task that does not exist',
      'task',
      (dir) =>
        rewrite(
          dir,
          'data/chunk-000/file-001.parquet',
          'SELECT * REPLACE (7::BIGINT AS task_index) FROM FILE',
        ),
    ],
    [
      'tasks without their index',
      'tasks-index',
      (dir) => rewrite(dir, 'meta/tasks.parquet', 'SELECT * FROM FILE'),
    ],
    ['no statistics', 'stats', (dir) => rmSync(path.join(dir, 'meta/stats.json'))],
    [
      'no video',
      'file-missing',
      (dir) => rmSync(path.join(dir, 'videos/observation.images.wrist/chunk-000/file-001.mp4')),
    ],
    [
      'a copy of a data file',
      'file-stray',
      (dir) =>
        cpSync(
          path.join(dir, 'data/chunk-000/file-000.parquet'),
          path.join(dir, 'data/chunk-000/file-007.parquet'),
        ),
    ],
    [
      'a truncated data file',
      'file-unreadable',
      (dir) =>
        writeFileSync(
          path.join(dir, 'data/chunk-000/file-000.parquet'),
          readFileSync(path.join(dir, 'data/chunk-000/file-000.parquet')).subarray(0, 2000),
        ),
    ],
    [
      'a truncated video',
      'file-unreadable',
      (dir) =>
        writeFileSync(
          path.join(dir, 'videos/observation.images.wrist/chunk-000/file-001.mp4'),
          readFileSync(path.join(dir, 'videos/observation.images.wrist/chunk-000/file-001.mp4')).subarray(
            0,
            900,
          ),
        ),
    ],
    [
      'a video of another episode',
      'video-frames',
      (dir) =>
        cpSync(
          path.join(dir, 'videos/observation.images.wrist/chunk-000/file-001.mp4'),
          path.join(dir, 'videos/observation.images.wrist/chunk-000/file-000.mp4'),
        ),
    ],
    [
      'videos at another rate',
      'video-rate',
      (dir) =>
        editInfo(dir, (info) => {
          info.fps = 25;
        }),
    ],
    [
      'a wrong video range',
      'video-range',
      (dir) =>
        rewrite(
          dir,
          'meta/episodes/chunk-000/file-001.parquet',
          'SELECT * REPLACE (0.5 AS "videos/observation.images.front/from_timestamp") FROM FILE',
        ),
    ],
  ];
  for (const [what, rule, damage] of DEFECTS)
    it(`detects ${what}: ${rule}`, async () => {
      const dir = copy('damaged');
      try {
        await damage(dir);
        assert.ok((await rulesOf(dir)).includes(rule), `${rule}: ${await rulesOf(dir)}`);
      } finally {
        rmSync(dir, { recursive: true });
      }
    });

  it('accepts files that hold several episodes', async () => {
    const dir = copy('joined');
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
    editInfo(dir, (own) => void delete own.farhand);
    await assert.rejects(exported(dir, other), { code: 'bad-dataset', message: /not written by farhand/ });
  });

  it('removes the leftovers of an interrupted export and keeps the rest', async () => {
    const dir = copy('crashed');
    const data = path.join(dir, 'data/chunk-000');
    cpSync(path.join(data, 'file-001.parquet'), path.join(data, 'file-002.parquet'));
    writeFileSync(path.join(data, 'file-003.parquet.tmp'), 'half a file');
    writeFileSync(path.join(dir, '.farhand-export'), '999999999');
    await exported(dir, sourceEpisode({ id: 'c', seconds: 0.2, cameras: CAMERAS }));
    assert.deepEqual((await checkDataset(dir)).problems.list, []);
    assert.ok(!existsSync(path.join(data, 'file-003.parquet.tmp')));
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
