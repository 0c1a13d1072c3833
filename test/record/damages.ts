import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DatasetInfo } from '../../src/record/lerobot/layout.ts';
import type { Rule } from '../../src/record/lerobot/problems.ts';
import { needsPackage } from '../needs.ts';
import { xorshift } from '../xorshift.ts';

/** Ways to break a dataset of two episodes and the cameras `front` and `wrist`, and the rule that names each. */
export interface Damage {
  what: string;
  rule: Rule;
  /** Found only by looking at pictures. */
  decodes?: true;
  apply(dir: string): void | Promise<void>;
}

export const DATA = [0, 1].map((n) => `data/chunk-000/file-00${n}.parquet`) as [string, string];
export const EPISODE = [0, 1].map((n) => `meta/episodes/chunk-000/file-00${n}.parquet`) as [string, string];
const video = (camera: string, n = 0) => `videos/observation.images.${camera}/chunk-000/file-00${n}.mp4`;
const FRONT = video('front');
const KEY = 'observation.images.front';

/** Why `query` and `rewrite` cannot run here; false where they can. */
export const noQuery = await needsPackage('@duckdb/node-api');

export async function query(sql: string): Promise<unknown[][]> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

/** Rewrites a Parquet file with a query on it. */
export async function rewrite(dir: string, file: string, select: string, options = ''): Promise<void> {
  const from = path.join(dir, file);
  await query(`COPY (${select.replaceAll('FILE', `'${from}'`)}) TO '${from}.new' (FORMAT parquet${options})`);
  renameSync(`${from}.new`, from);
}

/** Replaces columns of a Parquet file. */
const columns = (file: string, replaced: string) => (dir: string) =>
  rewrite(dir, file, `SELECT * REPLACE (${replaced}) FROM FILE`);

const json =
  <T>(file: string, edit: (content: T) => void) =>
  (dir: string): void => {
    const content = JSON.parse(readFileSync(path.join(dir, file), 'utf8')) as T;
    edit(content);
    writeFileSync(path.join(dir, file), JSON.stringify(content));
  };
const info = (edit: (info: DatasetInfo) => void) => json('meta/info.json', edit);
const stats = (edit: (stats: Record<string, Record<string, unknown>>) => void) =>
  json('meta/stats.json', edit);
/** Adds to one element of a statistic. */
const shifted = (key: string, name: string, i: number, by: number) =>
  stats((all) => {
    const values = all[key]![name] as number[];
    values[i] = values[i]! + by;
  });
const declared = (name: string, value: unknown) =>
  info(({ features }) => {
    features[KEY]!.info![name] = value;
  });

const cut = (file: string, share: number) => (dir: string) => {
  const bytes = readFileSync(path.join(dir, file));
  writeFileSync(path.join(dir, file), bytes.subarray(0, Math.floor(bytes.length * share)));
};
const remove = (file: string) => (dir: string) => rmSync(path.join(dir, file));
const copy = (from: string, to: string) => (dir: string) => cpSync(path.join(dir, from), path.join(dir, to));

const X264 = ['-c:v', 'libx264', '-g', '2', '-bf', '0', '-pix_fmt', 'yuv420p'];
const TIMES = ['-video_track_timescale', '15360', '-movflags', '+faststart'];

/** Rewrites the front camera's video with ffmpeg. */
const ffmpeg =
  (before: string[], after: string[], file = FRONT) =>
  (dir: string): void => {
    const from = path.join(dir, file);
    const args = ['-v', 'error', '-y', ...before, '-i', from, ...after, `${from}.mp4`];
    execFileSync('ffmpeg', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    renameSync(`${from}.mp4`, from);
  };
const filtered = (filter: string) => ffmpeg([], ['-vf', filter, ...X264, '-r', '30', ...TIMES]);

function swapCameras(dir: string): void {
  const [a, b] = [path.join(dir, FRONT), path.join(dir, video('wrist'))];
  renameSync(a, `${a}.x`);
  renameSync(b, a);
  renameSync(`${a}.x`, b);
}

/** Overwrites a part of the picture data with noise. */
function scramble(dir: string): void {
  const file = path.join(dir, FRONT);
  const bytes = readFileSync(file);
  const random = xorshift(11);
  const from = bytes.indexOf('mdat') + 900;
  for (let i = from; i < Math.min(bytes.length, from + 3000); i++) bytes[i] = Math.floor(random() * 256);
  writeFileSync(file, bytes);
}

/** Makes the edit list end after a third of the pictures. */
function hidePictures(dir: string): void {
  const file = path.join(dir, FRONT);
  const bytes = readFileSync(file);
  const at = bytes.indexOf('elst') + 12;
  bytes.writeUInt32BE(Math.floor(bytes.readUInt32BE(at) / 3), at);
  writeFileSync(file, bytes);
}

/** Takes the table of key pictures away: every picture claims to be one. */
function claimKeys(dir: string): void {
  const file = path.join(dir, FRONT);
  const bytes = readFileSync(file);
  bytes.write('free', bytes.indexOf('stss'));
  writeFileSync(file, bytes);
}

const INFO_DAMAGES: Damage[] = [
  { what: 'a wrong number of rows', rule: 'totals', apply: info((i) => void i.total_frames++) },
  { what: 'a wrong number of episodes', rule: 'totals', apply: info((i) => void i.total_episodes++) },
  {
    what: 'a split beyond the last episode',
    rule: 'info',
    apply: info((i) => void Object.assign(i, { splits: { train: '0:99' } })),
  },
  { what: 'chunks of no files', rule: 'info', apply: info((i) => void Object.assign(i, { chunks_size: 0 })) },
  { what: 'a wrong number of tasks', rule: 'totals', apply: info((i) => void i.total_tasks++) },
  {
    what: 'an older version',
    rule: 'version',
    apply: info((i) => Object.assign(i, { codebase_version: 'v2.1' })),
  },
  {
    what: 'a column that is not declared',
    rule: 'columns',
    apply: info((i) => void delete i.features['next.done']),
  },
  {
    what: 'a declared column that does not exist',
    rule: 'columns',
    apply: info((i) => Object.assign(i.features, { extra: { dtype: 'float32', shape: [1], names: null } })),
  },
  {
    what: 'names for too few values',
    rule: 'info',
    apply: info((i) => Object.assign(i.features['action']!, { names: ['a'] })),
  },
  {
    what: 'two joints of the actions exchanged by name',
    rule: 'info',
    apply: info(({ features }) => {
      const names = features['action']!.names as string[];
      features['action']!.names = [names[1]!, names[0]!, ...names.slice(2)];
    }),
  },
  {
    what: 'another declared type',
    rule: 'dtype',
    apply: info((i) => Object.assign(i.features['frame_index']!, { dtype: 'float32' })),
  },
  {
    what: 'another declared picture size',
    rule: 'video-size',
    apply: info((i) => Object.assign(i.features[KEY]!, { shape: [96, 64, 3] })),
  },
  { what: 'another rate', rule: 'video-rate', apply: info((i) => Object.assign(i, { fps: 25 })) },
  { what: 'a number for a robot', rule: 'info', apply: info((i) => Object.assign(i, { robot_type: 7 })) },
  { what: 'a wrong codec name', rule: 'video-codec', apply: declared('video.codec', 'av1') },
  { what: 'a wrong pixel format', rule: 'video-codec', apply: declared('video.pix_fmt', 'yuv444p') },
  { what: 'a wrong declared video rate', rule: 'video-codec', apply: declared('video.fps', 25) },
  { what: 'sound that does not exist', rule: 'video-codec', apply: declared('has_audio', true) },
  { what: 'half an info.json', rule: 'file-unreadable', apply: cut('meta/info.json', 0.5) },
  { what: 'no info.json', rule: 'file-missing', apply: remove('meta/info.json') },
];

const at = (frame: number, then: string, otherwise: string) =>
  `CASE WHEN frame_index = ${frame} THEN ${then} ELSE ${otherwise} END`;
const action = (first: string) => `list_concat([${first}::FLOAT], "action"[2:7])`;

const ROW_DAMAGES: Damage[] = [
  {
    what: 'irregular timestamps',
    rule: 'timestamp',
    apply: columns(DATA[0], `(timestamp + ${at(9, '0.001', '0')})::FLOAT AS timestamp`),
  },
  { what: 'an index that restarts', rule: 'index', apply: columns(DATA[1], 'frame_index AS index') },
  {
    what: 'a repeated frame index',
    rule: 'frame-index',
    apply: columns(DATA[0], `${at(6, '5::BIGINT', 'frame_index')} AS frame_index`),
  },
  {
    what: 'rows in another order',
    rule: 'frame-index',
    apply: (dir) => rewrite(dir, DATA[0], 'SELECT * FROM FILE ORDER BY hash(frame_index)'),
  },
  {
    what: 'rows of an unknown episode',
    rule: 'episode-index',
    apply: columns(DATA[0], `${at(6, '9::BIGINT', 'episode_index')} AS episode_index`),
  },
  {
    what: 'a vector that is too short',
    rule: 'vector-length',
    apply: columns(DATA[0], `${at(3, '"action"[1:6]', '"action"')} AS "action"`),
  },
  {
    what: 'a value that is not a number',
    rule: 'finite',
    apply: columns(DATA[0], `${at(4, action("'nan'"), '"action"')} AS "action"`),
  },
  {
    what: 'an infinite value',
    rule: 'finite',
    apply: columns(DATA[0], `${at(4, action("'inf'"), '"action"')} AS "action"`),
  },
  {
    what: 'a missing vector',
    rule: 'finite',
    apply: columns(DATA[0], `${at(4, 'NULL', '"action"')} AS "action"`),
  },
  {
    what: 'a missing row',
    rule: 'episode-range',
    apply: (dir) => rewrite(dir, DATA[1], 'SELECT * FROM FILE WHERE frame_index < 14'),
  },
  { what: 'an unknown task', rule: 'task', apply: columns(DATA[1], '7::BIGINT AS task_index') },
  { what: 'the task of another episode', rule: 'task', apply: columns(DATA[1], '0::BIGINT AS task_index') },
  {
    what: 'vectors of 64-bit numbers',
    rule: 'dtype',
    apply: columns(DATA[0], '"action"::DOUBLE[] AS "action"'),
  },
  { what: 'an end in the middle', rule: 'done', apply: columns(DATA[0], 'frame_index = 12 AS "next.done"') },
  {
    what: 'an action of 1e6 rad',
    rule: 'limits',
    apply: columns(DATA[0], `${at(8, action('1e6'), '"action"')} AS "action"`),
  },
  {
    what: 'an action just outside the limits',
    rule: 'limits',
    apply: columns(DATA[0], `${at(8, action('2.2'), '"action"')} AS "action"`),
  },
  {
    what: 'a leap inside the limits',
    rule: 'jump',
    apply: columns(DATA[0], `${at(8, action('-1.9'), '"action"')} AS "action"`),
  },
  { what: 'half a data file', rule: 'file-unreadable', apply: cut(DATA[0], 0.5) },
  { what: 'no data file', rule: 'file-missing', apply: remove(DATA[1]) },
  {
    what: 'a copy of a data file',
    rule: 'file-stray',
    apply: copy(DATA[0], 'data/chunk-000/file-007.parquet'),
  },
];

const META_DAMAGES: Damage[] = [
  {
    what: 'tasks without their index',
    rule: 'tasks-index',
    apply: (dir) => rewrite(dir, 'meta/tasks.parquet', 'SELECT * FROM FILE'),
  },
  { what: 'no tasks', rule: 'file-missing', apply: remove('meta/tasks.parquet') },
  { what: 'an episode with another task', rule: 'task', apply: columns(EPISODE[1], "['sing'] AS tasks") },
  {
    what: 'an episode with a wrong length',
    rule: 'episode-range',
    apply: columns(EPISODE[0], '29::BIGINT AS length'),
  },
  {
    what: 'an episode with a wrong first index',
    rule: 'episode-range',
    apply: columns(EPISODE[1], '31::BIGINT AS dataset_from_index'),
  },
  {
    what: 'a wrong range in a video',
    rule: 'video-range',
    apply: columns(EPISODE[1], `0.5::DOUBLE AS "videos/${KEY}/from_timestamp"`),
  },
  {
    what: 'an episode in a video that does not exist',
    rule: 'file-missing',
    apply: columns(EPISODE[1], `5::BIGINT AS "videos/${KEY}/file_index"`),
  },
  { what: 'an episode that is not described', rule: 'totals', apply: remove(EPISODE[1]) },
  {
    what: 'a wrong mean of an episode',
    rule: 'stats',
    apply: columns(EPISODE[0], '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]::DOUBLE[] AS "stats/action/mean"'),
  },
  { what: 'no statistics', rule: 'stats', apply: remove('meta/stats.json') },
  {
    what: 'a wrong mean',
    rule: 'stats',
    apply: shifted('action', 'mean', 2, 0.1),
  },
  {
    what: 'a zero deviation',
    rule: 'stats',
    apply: stats((s) => Object.assign(s['action']!, { std: [0, 0, 0, 0, 0, 0, 0] })),
  },
  {
    what: 'a wrong maximum',
    rule: 'stats',
    apply: shifted('observation.state', 'max', 0, -0.1),
  },
  {
    what: 'a quantile outside the range',
    rule: 'stats',
    apply: shifted('action', 'q99', 1, 5),
  },
  {
    what: 'a wrong median inside the range',
    rule: 'stats',
    apply: shifted('action', 'q50', 1, 0.1),
  },
  {
    what: 'a wrong median of an episode inside the range',
    rule: 'stats',
    apply: columns(EPISODE[0], 'list_transform("stats/action/q10", x -> x + 0.001) AS "stats/action/q50"'),
  },
  {
    what: 'a halved deviation of an episode’s colours',
    rule: 'stats',
    decodes: true,
    apply: columns(EPISODE[0], `[[[0.05]], [[0.05]], [[0.05]]]::DOUBLE[][][] AS "stats/${KEY}/std"`),
  },
  {
    what: 'a count that is not a list',
    rule: 'stats',
    apply: stats((s) => Object.assign(s['action']!, { count: 45 })),
  },
  { what: 'a wrong count', rule: 'stats', apply: stats((s) => Object.assign(s['action']!, { count: [44] })) },
  {
    what: 'statistics that are not finite',
    rule: 'stats',
    apply: stats((s) => Object.assign(s['action']!, { mean: [null, 0, 0, 0, 0, 0, 0] })),
  },
  {
    what: 'a wrong mean colour of all episodes',
    rule: 'stats',
    apply: stats((s) => Object.assign(s[KEY]!, { mean: [[[0.95]], [[0.5]], [[0.5]]] })),
  },
  { what: 'a feature without statistics', rule: 'stats', apply: stats((s) => void delete s['action']) },
  {
    what: 'picture statistics in another shape',
    rule: 'stats',
    apply: stats((s) => Object.assign(s[KEY]!, { mean: [0.5, 0.5, 0.5] })),
  },
];

const VIDEO_DAMAGES: Damage[] = [
  { what: 'no video', rule: 'file-missing', apply: remove(video('wrist', 1)) },
  { what: 'half a video', rule: 'video-data', apply: cut(FRONT, 0.6) },
  { what: 'the first bytes of a video', rule: 'file-unreadable', apply: cut(FRONT, 0.1) },
  {
    what: 'a video shifted by 0.2 s',
    rule: 'video-start',
    apply: ffmpeg(['-itsoffset', '0.2'], ['-c', 'copy', ...TIMES]),
  },
  {
    what: 'a video of another episode',
    rule: 'video-frames',
    apply: copy(video('wrist', 1), video('wrist', 0)),
  },
  {
    what: 'a video at 29.97 fps',
    rule: 'video-rate',
    apply: ffmpeg(['-r', '30000/1001'], [...X264, '-video_track_timescale', '30000']),
  },
  {
    what: 'a video in milliseconds',
    rule: 'video-timescale',
    apply: ffmpeg([], ['-c', 'copy', '-video_track_timescale', '1000']),
  },
  { what: 'a video of another size', rule: 'video-size', apply: filtered('scale=32:24') },
  {
    what: 'a video in another codec',
    rule: 'video-codec',
    apply: ffmpeg([], ['-c:v', 'libx265', '-x265-params', 'log-level=none', ...TIMES]),
  },
  { what: 'an edit list that hides pictures', rule: 'video-edit', apply: hidePictures },
  { what: 'pictures that claim to be key pictures', rule: 'video-data', apply: claimKeys },
  { what: 'scrambled video bytes', rule: 'video-decode', decodes: true, apply: scramble },
  { what: 'swapped cameras', rule: 'picture', decodes: true, apply: swapCameras },
  { what: 'a black video', rule: 'video-black', decodes: true, apply: filtered('drawbox=c=black:t=fill') },
  {
    what: 'a frozen video',
    rule: 'video-frozen',
    decodes: true,
    apply: filtered('loop=loop=29:size=1:start=0,trim=end_frame=30,setpts=N/30/TB'),
  },
  {
    what: 'the same video for two cameras',
    rule: 'video-duplicate',
    decodes: true,
    apply: copy(video('wrist'), FRONT),
  },
  { what: 'pictures in reverse order', rule: 'picture', decodes: true, apply: filtered('reverse') },
  {
    what: 'pictures one row late',
    rule: 'picture',
    decodes: true,
    apply: filtered('tpad=start=1:start_mode=clone,trim=end_frame=30'),
  },
  { what: 'pictures upside down', rule: 'picture', decodes: true, apply: filtered('vflip') },
];

const EPISODES = [0, 1].map((n) => `meta/episodes/chunk-000/file-00${n}.parquet`) as [string, string];
const exchanged = (dir: string, [one, other]: readonly [string, string]): void => {
  renameSync(path.join(dir, one), path.join(dir, 'other'));
  renameSync(path.join(dir, other), path.join(dir, one));
  renameSync(path.join(dir, 'other'), path.join(dir, other));
};

/** Found by somebody who knew the format alone. */
const PLACE_DAMAGES: Damage[] = [
  {
    what: 'a video that no episode refers to',
    rule: 'file-stray',
    apply: (dir) => cpSync(path.join(dir, FRONT), path.join(dir, path.dirname(FRONT), 'file-077.mp4')),
  },
  {
    what: 'descriptions of episodes in another order',
    rule: 'episode-range',
    apply: (dir) => exchanged(dir, EPISODES),
  },
  {
    what: 'data files in another order than their episodes',
    rule: 'index',
    async apply(dir) {
      exchanged(dir, DATA);
      for (const [n, file] of EPISODES.entries())
        await rewrite(dir, file, `SELECT * REPLACE (${1 - n}::BIGINT AS "data/file_index") FROM FILE`);
    },
  },
  {
    what: 'a wrong place of a description',
    rule: 'episode-file',
    apply: (dir) =>
      rewrite(dir, EPISODES[0], 'SELECT * REPLACE (9::BIGINT AS "meta/episodes/file_index") FROM FILE'),
  },
  {
    what: 'a task of an episode that does not exist',
    rule: 'task',
    apply: (dir) =>
      rewrite(dir, EPISODES[0], `SELECT * REPLACE (list_append(tasks, 'dance') AS tasks) FROM FILE`),
  },
  {
    what: 'lengths as text',
    rule: 'dtype',
    apply: (dir) => rewrite(dir, EPISODES[0], 'SELECT * REPLACE (length::VARCHAR AS length) FROM FILE'),
  },
];

export const DAMAGES: readonly Damage[] = [
  ...PLACE_DAMAGES,
  ...INFO_DAMAGES,
  ...ROW_DAMAGES,
  ...META_DAMAGES,
  ...VIDEO_DAMAGES,
];
