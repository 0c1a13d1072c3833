import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { TeleopError } from '../../core/errors.ts';
import { unwritable } from '../../files/write-whole.ts';
import { differences } from '../lerobot/admission.ts';
import { checkDataset } from '../lerobot/check.ts';
import { folderOf, lockDatasets } from '../lerobot/dataset-lock.ts';
import type { EpisodeMeta } from '../lerobot/episode-meta.ts';
import { joinEpisodeFiles } from '../lerobot/join-episode-files.ts';
import { videoKeysOf } from '../lerobot/layout.ts';
import { problemText } from '../lerobot/problems.ts';
import { readVideoTrack } from '../mp4/video-track.ts';
import { type Built, buildDataset, type Part } from './build.ts';
import { OF_CONTENT, type OpenDataset, openDataset } from './open-dataset.ts';
import { abandonSwap, beginSwap, restoreInterrupted, swap } from './swap.ts';

/** A cut may move this many pictures back to a key picture, so that nothing needs to be encoded again. */
const SNAP = 2;

export interface Edited extends Built {
  dir: string;
}

const wholePart = (from: OpenDataset, episode: EpisodeMeta): Part => ({
  ...{ from, episode, first: 0, count: episode.length },
});
const wholeOf = (from: OpenDataset): Part[] => from.episodes.map((episode) => wholePart(from, episode));

/** Opens datasets and keeps other programs from changing them, and from writing to `outs`, until `run` has ended. */
async function editing<T>(
  dirs: readonly string[],
  outs: readonly string[],
  run: (first: OpenDataset, ...others: OpenDataset[]) => Promise<T>,
): Promise<T> {
  for (const dir of dirs) expectFolder(dir);
  for (const out of outs) for (const dir of dirs) expectOutside(dir, out);
  for (const out of outs) mkdirSync(path.dirname(path.resolve(out)), { recursive: true });
  const unlock = lockDatasets([...dirs, ...outs]);
  try {
    const sources: OpenDataset[] = [];
    for (const dir of dirs) sources.push(await openDataset(dir));
    const [first, ...others] = sources;
    return await run(first!, ...others);
  } finally {
    unlock();
  }
}

/** Without these episodes. */
export const deleteEpisodes = (dir: string, episodes: readonly number[], out = dir): Promise<Edited> =>
  editing([dir], [out], (from) => {
    for (const episode of episodes) episodeOf(from, episode);
    const kept = wholeOf(from).filter(({ episode }) => !episodes.includes(episode.episode));
    return write(out, kept, [from]);
  });

export interface Trim {
  episode: number;
  /** In the episode; absent: from its start, to its end. */
  fromS?: number;
  toS?: number;
  /** Cut exactly, even where that means to encode the pictures again. */
  exact?: boolean;
}

export const trimEpisode = (dir: string, trim: Trim, out = dir): Promise<Edited & { first: number }> =>
  editing([dir], [out], (from) => trimmed(from, trim, out));

async function trimmed(from: OpenDataset, trim: Trim, out: string): Promise<Edited & { first: number }> {
  const { fps } = from.info;
  const { length } = episodeOf(from, trim.episode);
  const last = Math.min(length, Math.round((trim.toS ?? length / fps) * fps));
  let first = Math.max(0, Math.round((trim.fromS ?? 0) * fps));
  if (trim.exact !== true) first = keyAtOrBefore(from, trim.episode, first);
  if (!(first < last))
    throw new TeleopError('bad-option', `nothing of episode ${trim.episode} would be left`, {
      hint: `It is ${(length / fps).toFixed(2)} s long; give --from and --to in seconds.`,
    });
  const parts = wholeOf(from).map((part) =>
    part.episode.episode === trim.episode ? { ...part, first, count: last - first } : part,
  );
  return { ...(await write(out, parts, [from])), first };
}

/** The nearest earlier row at which all videos can be cut; the row itself if there is none close by. */
function keyAtOrBefore(from: OpenDataset, number: number, row: number): number {
  const { videos } = episodeOf(from, number);
  const keys = videoKeysOf(from.info.features).map((key) => {
    const { file, fromS } = videos[key]!;
    const { isKey } = readVideoTrack(path.join(from.dir, file)).samples;
    const start = Math.round(fromS * from.info.fps);
    return (at: number) => isKey[start + at] === 1;
  });
  for (let at = row; at >= Math.max(0, row - SNAP); at--) if (keys.every((isKey) => isKey(at))) return at;
  return row;
}

/** Datasets `<dir>-<name>`, or the folder `only`, each with some of the episodes. The dataset itself stays. */
export async function splitDataset(
  dir: string,
  into: ReadonlyMap<string, readonly number[]>,
  only: string | null = null,
): Promise<Edited[]> {
  if (only !== null && into.size !== 1)
    throw new TeleopError('bad-option', '--out takes one part', {
      hint: 'Leave --out out, or name one part.',
    });
  const planned = [...into].map(([name, episodes]) => ({
    out: only ?? `${path.resolve(dir)}-${name}`,
    episodes,
  }));
  const outs = planned.map(({ out }) => out);
  return editing([dir], outs, async (from) => {
    const parts = planned.map(({ episodes }) =>
      episodes.map((number) => wholePart(from, episodeOf(from, number))),
    );
    for (const out of outs) expectFree(out);
    const made: Edited[] = [];
    for (const [i, out] of outs.entries()) made.push(await write(out, parts[i]!, [from]));
    return made;
  });
}

export const mergeDatasets = (dirs: readonly string[], out: string): Promise<Edited> =>
  editing(dirs, [out], (...sources) => {
    expectFree(out);
    for (const other of sources.slice(1)) expectAlike(sources[0]!, other);
    return write(out, sources.flatMap(wholeOf), sources);
  });

function expectAlike(first: OpenDataset, other: OpenDataset): void {
  const differing = differences(first.info, other.info.features, other.info.robot_type);
  if (other.info.fps !== first.info.fps) differing.push(`${other.info.fps} rows per second`);
  if (differing.length > 0)
    throw new TeleopError(
      'bad-dataset',
      `${other.dir} differs from ${first.dir} in ${differing.join(', ')}`,
      {
        hint: 'Only datasets with the same robot, features, picture sizes, codec and rate can be merged.',
      },
    );
}

/** Gives episodes another task; all of them if none are named. */
export const relabel = (
  dir: string,
  task: string,
  episodes: readonly number[] | null,
  out = dir,
): Promise<Edited> =>
  editing([dir], [out], (from) => {
    for (const episode of episodes ?? []) episodeOf(from, episode);
    const parts = wholeOf(from).map((part) =>
      episodes === null || episodes.includes(part.episode.episode) ? { ...part, task } : part,
    );
    return write(out, parts, [from]);
  });

/** Computes all statistics again. */
export const recomputeStats = (dir: string, out = dir): Promise<Edited> =>
  editing([dir], [out], (from) => write(out, wholeOf(from), [from], true));

async function write(
  out: string,
  parts: readonly Part[],
  sources: readonly OpenDataset[],
  freshStats = false,
): Promise<Edited> {
  const inPlace = sources.some(({ dir }) => folderOf(dir) === folderOf(out));
  if (!inPlace) expectFree(out);
  const place = beginSwap(out);
  try {
    const built = await buildDataset(place, parts, { mayLink: inPlace, freshStats });
    await joinEpisodeFiles(place);
    const { problems } = await checkDataset(place, 'sample');
    const problem = problems.list.find(({ rule }) => !OF_CONTENT.includes(rule));
    if (problem !== undefined)
      throw new TeleopError('bad-dataset', `the result violates a rule: ${problemText(problem)}`, {
        hint: `${out} is unchanged. Check the dataset first: farhand dataset check ${sources[0]!.dir}`,
      });
    swap(out);
    return { dir: out, ...built };
  } catch (error) {
    abandonSwap(out);
    throw unwritable(place, error);
  }
}

function expectFolder(dir: string): void {
  restoreInterrupted(dir);
  if (!existsSync(dir))
    throw new TeleopError('file-missing', `there is no folder ${dir}`, {
      hint: 'Give the folder of a LeRobot v3 dataset, the one that contains meta/info.json.',
    });
}

/** The next edit of the dataset would remove it. */
function expectOutside(dir: string, out: string): void {
  if (!folderOf(out).startsWith(folderOf(dir) + path.sep)) return;
  throw new TeleopError('bad-option', `${out} is inside the dataset ${dir}`, {
    hint: 'Choose a folder beside it.',
  });
}

function expectFree(out: string): void {
  if (existsSync(out))
    throw new TeleopError('bad-option', `${out} exists already`, { hint: 'Choose a new folder.' });
}

function episodeOf({ dir, episodes }: OpenDataset, number: number) {
  const found = episodes.find(({ episode }) => episode === number);
  if (found !== undefined) return found;
  throw new TeleopError('bad-option', `${dir} has no episode ${number}`, {
    hint: `Its episodes are 0 to ${episodes.length - 1}.`,
  });
}
