import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { checkData } from './check-data.ts';
import { checkTasks } from './check-meta.ts';
import { checkPictures, type Decode, type PictureCheck } from './check-pictures.ts';
import { checkStats } from './check-stats.ts';
import { checkVideos } from './check-videos.ts';
import { filesBelow } from './dataset-folder.ts';
import { checkDigests } from './digests.ts';
import type { EpisodeMeta } from './episode-meta.ts';
import {
  CODEBASE_VERSION,
  DATA_PATH,
  type DatasetInfo,
  type Feature,
  INFO_FILE,
  pathOf,
  VIDEO_PATH,
  videoKeysOf,
} from './layout.ts';
import { openParquet } from './parquet.ts';
import { Problems } from './problems.ts';

export interface CheckedDataset {
  info: DatasetInfo | null;
  episodes: EpisodeMeta[];
  tasks: string[];
  problems: Problems;
  pictures: PictureCheck;
}

/**
 * Checks a LeRobot v3.0 dataset from any writer: files may hold several episodes. Reads all rows and tables;
 * `decode` says how many pictures.
 */
export async function checkDataset(dir: string, decode: Decode = 'sample'): Promise<CheckedDataset> {
  const problems = new Problems();
  const info = readInfoFile(dir, problems);
  if (info === null)
    return { info, episodes: [], tasks: [], problems, pictures: { decoded: 0, total: 0, skipped: '' } };
  const episodes = await readEpisodes(dir, info, problems);
  const tasks = await checkTasks(dir, info, problems);
  checkRanges(info, episodes, problems);
  checkStrays(dir, episodes, problems);
  const data = await checkData(dir, info, episodes, tasks, problems);
  const videos = checkVideos(dir, info, episodes, problems);
  checkStats(dir, info, episodes, data.found, problems);
  checkDigests(dir, problems);
  const pictures = await checkPictures(dir, info, videos, data, decode, problems);
  return { info, episodes, tasks, problems, pictures };
}

/** What the metadata says, without rows and statistics; `info` is null if it is unusable. */
export async function readDatasetInfo(
  dir: string,
  problems: Problems,
): Promise<{ info: DatasetInfo | null; episodes: EpisodeMeta[] }> {
  const info = readInfoFile(dir, problems);
  return { info, episodes: info === null ? [] : await readEpisodes(dir, info, problems, false) };
}

function readInfoFile(dir: string, problems: Problems): DatasetInfo | null {
  const file = path.join(dir, INFO_FILE);
  if (!existsSync(file)) {
    problems.add(
      'file-missing',
      INFO_FILE,
      null,
      'this is not a LeRobot v3 dataset, or its metadata is lost',
    );
    return null;
  }
  let info: DatasetInfo;
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) throw new Error('it does not contain a JSON object');
    info = parsed as DatasetInfo;
  } catch (error) {
    problems.add('file-unreadable', INFO_FILE, null, (error as Error).message);
    return null;
  }
  if (info.codebase_version !== CODEBASE_VERSION) {
    const problem = JSON.stringify(info.codebase_version ?? null);
    const older = /^"v2\./.test(problem) ? '; LeRobot’s convert_dataset_v21_to_v30 converts it to v3.0' : '';
    problems.add('version', INFO_FILE, null, `codebase_version is ${problem}${older}`);
  }
  if (!(Number.isInteger(info.fps) && info.fps > 0)) {
    problems.add('info', INFO_FILE, null, `fps is ${JSON.stringify(info.fps)}, not a whole number above 0`);
    return null;
  }
  return checkFeatures(info, problems) ? info : null;
}

/** False if the remaining checks cannot use the features. */
function checkFeatures(info: DatasetInfo, problems: Problems): boolean {
  const problem = (message: string) => problems.add('info', INFO_FILE, null, message);
  const features: Record<string, Partial<Feature> | null> | null | undefined = info.features;
  if (typeof features !== 'object' || features === null) {
    problem('features are missing');
    return false;
  }
  for (const key of ['data_path', 'video_path'] as const)
    if (info[key] !== undefined && typeof info[key] !== 'string') {
      problem(`${key} is not a string`);
      return false;
    }
  let valid = true;
  for (const [key, feature] of Object.entries(features)) {
    const { dtype, shape, names } = feature ?? {};
    if (typeof dtype !== 'string' || !isShape(shape)) {
      problem(`feature ${key} has no valid dtype and shape`);
      valid = false;
      continue;
    }
    const isVector = dtype !== 'video' && dtype !== 'image' && shape.length === 1;
    if (isVector && Array.isArray(names) && names.length !== shape[0])
      problem(`feature ${key} has ${names.length} names for ${shape[0]} values`);
  }
  for (const key of ['timestamp', 'frame_index', 'episode_index', 'index', 'task_index'])
    if (!(key in features)) problem(`feature ${key} is not declared`);
  return valid;
}

const isShape = (shape: unknown): shape is number[] =>
  Array.isArray(shape) && shape.length > 0 && shape.every((n) => Number.isInteger(n) && n > 0);

async function readEpisodes(
  dir: string,
  info: DatasetInfo,
  problems: Problems,
  withStats = true,
): Promise<EpisodeMeta[]> {
  const episodes: EpisodeMeta[] = [];
  const files = filesBelow(path.join(dir, 'meta/episodes'))
    .filter((name) => name.endsWith('.parquet'))
    .sort();
  if (files.length === 0) problems.add('file-missing', 'meta/episodes', null, 'no episode is described');
  for (const name of files) {
    const file = `meta/episodes/${name}`;
    try {
      const parquet = await openParquet(path.join(dir, file));
      const columns = parquet.columns.filter((column) => withStats || !STATS_COLUMN.test(column));
      (await parquet.read(0, parquet.rows, columns)).forEach((row, i) => {
        episodes.push(episodeOf(info, row, file, i, problems));
      });
    } catch (error) {
      problems.add('file-unreadable', file, null, (error as Error).message);
    }
  }
  return episodes.sort((a, b) => a.episode - b.episode);
}

function episodeOf(
  info: DatasetInfo,
  row: Record<string, unknown>,
  file: string,
  at: number,
  problems: Problems,
): EpisodeMeta {
  const number = (key: string): number => {
    const value = row[key];
    if (value === undefined || value === null) {
      problems.add('columns', file, at, `${key} is missing`);
      return Number.NaN;
    }
    return Number(value);
  };
  const place = (key: string) => ({ chunk: number(`${key}/chunk_index`), file: number(`${key}/file_index`) });
  const videos: EpisodeMeta['videos'] = {};
  for (const key of videoKeysOf(info.features))
    videos[key] = {
      file: pathOf(info.video_path ?? VIDEO_PATH, place(`videos/${key}`), key),
      fromS: number(`videos/${key}/from_timestamp`),
      toS: number(`videos/${key}/to_timestamp`),
    };
  return {
    file,
    row: at,
    episode: number('episode_index'),
    tasks: Array.isArray(row['tasks']) ? row['tasks'].map(String) : [],
    length: number('length'),
    fromIndex: number('dataset_from_index'),
    toIndex: number('dataset_to_index'),
    dataFile: pathOf(info.data_path ?? DATA_PATH, place('data')),
    videos,
    stats: statsOf(row),
  };
}

const STATS_COLUMN = /^stats\/(.+)\/([^/]+)$/;

function statsOf(row: Record<string, unknown>): EpisodeMeta['stats'] {
  const stats: EpisodeMeta['stats'] = {};
  for (const [column, value] of Object.entries(row)) {
    const [, key, name] = STATS_COLUMN.exec(column) ?? [];
    if (key === undefined || name === undefined || value === null) continue;
    stats[key] = { ...stats[key], [name]: value };
  }
  return stats;
}

function checkRanges(info: DatasetInfo, episodes: readonly EpisodeMeta[], problems: Problems): void {
  let next = 0;
  episodes.forEach((meta, i) => {
    const { file, row, episode, length, fromIndex, toIndex } = meta;
    const problem = (message: string) => problems.add('episode-range', file, row, message);
    if (episode !== i) problem(`episode_index is ${episode}, expected ${i}`);
    if (toIndex - fromIndex !== length)
      problem(`the length is ${length}, but the indices run from ${fromIndex} to ${toIndex}`);
    if (fromIndex !== next) problem(`starts at index ${fromIndex}, expected ${next}`);
    next = toIndex;
  });
  const total = (what: string, problem: number, found: number) => {
    if (problem !== found)
      problems.add(
        'totals',
        INFO_FILE,
        null,
        `${what} is ${JSON.stringify(problem)}, but the files have ${found}`,
      );
  };
  total('total_episodes', info.total_episodes, episodes.length);
  total(
    'total_frames',
    info.total_frames,
    episodes.reduce((sum, { length }) => sum + length, 0),
  );
}

/** Loaders read every Parquet file below `data`. */
function checkStrays(dir: string, episodes: readonly EpisodeMeta[], problems: Problems): void {
  const named = new Set(episodes.map(({ dataFile }) => dataFile));
  for (const name of filesBelow(path.join(dir, 'data')))
    if (name.endsWith('.parquet') && !named.has(`data/${name}`))
      problems.add('file-stray', `data/${name}`, null, 'no episode refers to it, but loaders read its rows');
}
