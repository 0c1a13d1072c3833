import path from 'node:path';
import { checkData } from './check-data.ts';
import { readInfoFile } from './check-info.ts';
import { checkTasks } from './check-meta.ts';
import { checkPictures, type Decode, type PictureCheck } from './check-pictures.ts';
import { checkStats } from './check-stats.ts';
import { checkVideos } from './check-videos.ts';
import { filesBelow } from './dataset-folder.ts';
import { checkDigests } from './digests.ts';
import type { EpisodeMeta } from './episode-meta.ts';
import {
  DATA_PATH,
  type DatasetInfo,
  EPISODES_PATH,
  INFO_FILE,
  pathOf,
  TASKS_FILE,
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
  checkTaskNames(episodes, tasks, problems);
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
      checkTypes(file, parquet.types, problems);
      const columns = parquet.columns.filter((column) => withStats || !STATS_COLUMN.test(column));
      (await parquet.read(0, parquet.rows, columns)).forEach((row, i) => {
        episodes.push(episodeOf(info, row, file, i, problems));
      });
    } catch (error) {
      problems.add('file-unreadable', file, null, (error as Error).message);
    }
  }
  const misplaced = episodes.findIndex(({ episode }, i) => i > 0 && episode <= episodes[i - 1]!.episode);
  if (misplaced >= 0) {
    const { file, row, episode } = episodes[misplaced]!;
    const message = `episode ${episode} follows episode ${episodes[misplaced - 1]!.episode}, but loaders find episodes by their position`;
    problems.add('episode-range', file, row, message);
  }
  return episodes.sort((a, b) => a.episode - b.episode);
}

const NUMBERS = /(_index|_timestamp|^length)$/;

function checkTypes(file: string, types: Readonly<Record<string, string>>, problems: Problems): void {
  for (const [name, type] of Object.entries(types))
    if (NUMBERS.test(name) && type.startsWith('BYTE_ARRAY'))
      problems.add('dtype', file, null, `${name} is stored as text, not as a number`);
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
  const own = pathOf(EPISODES_PATH, place('meta/episodes'));
  if (own !== file)
    problems.add(
      'episode-file',
      file,
      at,
      `it is said to be in ${own}, where LeRobot’s editing looks for it`,
    );
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
    if (length === 0) problem(`episode ${episode} has no rows`);
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

function checkTaskNames(
  episodes: readonly EpisodeMeta[],
  tasks: readonly string[],
  problems: Problems,
): void {
  for (const { file, row, episode, tasks: own } of episodes) {
    const unknown = own.find((task) => !tasks.includes(task));
    if (unknown !== undefined)
      problems.add(
        'task',
        file,
        row,
        `episode ${episode} lists the task "${unknown}", which ${TASKS_FILE} lacks`,
      );
  }
}

/** Loaders read every Parquet file below `data`; videos that nothing refers to are copied and published for nothing. */
function checkStrays(dir: string, episodes: readonly EpisodeMeta[], problems: Problems): void {
  // They could not be read, which is reported.
  if (episodes.length === 0) return;
  const named = new Set(episodes.map(({ dataFile }) => dataFile));
  for (const name of filesBelow(path.join(dir, 'data')))
    if (name.endsWith('.parquet') && !named.has(`data/${name}`))
      problems.add('file-stray', `data/${name}`, null, 'no episode refers to it, but loaders read its rows');
  const shown = new Set(episodes.flatMap(({ videos }) => Object.values(videos).map(({ file }) => file)));
  for (const name of filesBelow(path.join(dir, 'videos')))
    if (name.endsWith('.mp4') && !shown.has(`videos/${name}`))
      problems.add('file-stray', `videos/${name}`, null, 'no episode refers to it');
}
