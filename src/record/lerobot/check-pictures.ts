import path from 'node:path';
import type { CheckedData } from './check-data.ts';
import type { CheckedVideo } from './check-videos.ts';
import type { EpisodeMeta } from './episode-meta.ts';
import type { DatasetInfo } from './layout.ts';
import { findMisplaced, type Misplaced } from './picture-order.ts';
import type { Problems } from './problems.ts';
import { decodeSmall, largestDifference, lumaOf, meanDifference } from './small-pictures.ts';

/** How many pictures are decoded: none, a sample, or every one. */
export type Decode = 'none' | 'sample' | 'all';

/** A sample has at most this many pictures, in windows spread over all episodes. */
const SAMPLE_PICTURES = 3000;
const WINDOW = 30;
/** Brightness below which a picture shows nothing, 0 … 255. */
const BLACK = 12;
/** Differences that encoding alone can cause, per value and on average. */
const SAME = 16;
const SAME_MEAN = 1;
/** Recorded and decoded brightness differ by less, on average over the cells. */
const LUMA_SLACK = 8;
/** Of a whole episode's mean colour, 0 … 1: other programs sample and scale differently. */
const MEAN_SLACK = 0.04;
/** Scaling a picture down only lessens how much its colours differ. */
const STD_SLACK = 0.04;
/** Less motion than this (rad, or the joint's own unit) may be invisible. */
const MOVED = 0.1;
/** Shorter windows say nothing about a frozen or duplicated camera. */
const FEW = 5;

interface Window {
  video: CheckedVideo;
  episode: EpisodeMeta;
  /** First picture in the episode, and how many. */
  from: number;
  count: number;
}

interface Seen extends Window {
  pictures: Uint8Array[];
}

export interface PictureCheck {
  decoded: number;
  total: number;
  /** Why nothing was decoded; empty if something was. */
  skipped: string;
}

/** Decodes pictures and compares them with what the rows, the statistics and the other cameras say. */
export async function checkPictures(
  dir: string,
  info: DatasetInfo,
  videos: readonly CheckedVideo[],
  data: CheckedData,
  decode: Decode,
  problems: Problems,
): Promise<PictureCheck> {
  const total = videos.reduce((sum, { track }) => sum + track.timesS.length, 0);
  const seen: Seen[] = [];
  let decoded = 0;
  for (const window of windowsOf(videos, decode, total)) {
    const { video, episode, from, count } = window;
    const first = Math.round(episode.videos[video.key]!.fromS * info.fps) + from;
    const { pictures, complaint, isMissing } = await decodeSmall(
      path.join(dir, video.file),
      first,
      count,
      info.fps,
    );
    if (isMissing) return { decoded, total, skipped: 'ffmpeg is not installed' };
    decoded += pictures.length;
    if (complaint !== '' || pictures.length !== count)
      problems.add(
        'video-decode',
        video.file,
        first + Math.min(pictures.length, count - 1),
        complaint || `${pictures.length} of ${count} pictures can be decoded`,
      );
    else seen.push({ ...window, pictures });
  }
  for (const each of seen) checkSeen(each, data, problems);
  checkCameras(seen, problems);
  return { decoded, total, skipped: '' };
}

function windowsOf(videos: readonly CheckedVideo[], decode: Decode, total: number): Window[] {
  if (decode === 'none') return [];
  const all = videos
    .filter(({ track }) => track.firstOutside < 0)
    .flatMap((video) => video.episodes.map((episode) => ({ video, episode })))
    .filter(({ video, episode }) => Number.isFinite(episode.videos[video.key]!.fromS) && episode.length > 0);
  if (decode === 'all' || total <= SAMPLE_PICTURES)
    return all.map((each) => ({ ...each, from: 0, count: each.episode.length }));
  // The same episodes of every camera, so that cameras can be compared.
  const episodes = [...new Set(all.map(({ episode }) => episode.episode))];
  const cameras = new Set(all.map(({ video }) => video.key)).size;
  const every = Math.max(1, Math.ceil((episodes.length * cameras * WINDOW) / SAMPLE_PICTURES));
  const chosen = new Set(episodes.filter((_, i) => i % every === 0));
  return all
    .filter(({ episode }) => chosen.has(episode.episode))
    .map(({ video, episode }) => {
      const count = Math.min(WINDOW, episode.length);
      // Another part of each episode; any fixed spread does.
      const from = Math.floor((((episode.episode * 37) % 100) / 100) * (episode.length - count));
      return { video, episode, from, count };
    });
}

function checkSeen(seen: Seen, data: CheckedData, problems: Problems): void {
  const { video, episode, pictures } = seen;
  const where = `episode ${episode.episode}`;
  if (pictures.every((picture) => Math.max(...lumaOf(picture)) < BLACK))
    problems.add('video-black', video.file, null, `${where}: every decoded picture is black`);
  else if (isFrozen(seen, data))
    problems.add(
      'video-frozen',
      video.file,
      null,
      `${where}: the robot moves, but the picture never changes`,
    );
  checkLuma(seen, data, problems);
  checkColours(seen, isRecorded(seen, data), problems);
}

function isFrozen({ pictures, episode, count }: Seen, { found }: CheckedData): boolean {
  const state = found.get(episode.episode)?.get('observation.state');
  // A part of an episode may be a pause.
  if (state === undefined || count < FEW || count < episode.length) return false;
  const moved = Math.max(...state.max.map((max, i) => max - state.min[i]!));
  const isSame = (picture: Uint8Array) =>
    largestDifference(picture, pictures[0]!) <= SAME && meanDifference(picture, pictures[0]!) <= SAME_MEAN;
  return moved > MOVED && pictures.every(isSame);
}

const cameraOf = ({ key }: CheckedVideo): string => key.slice(key.lastIndexOf('.') + 1);
const isRecorded = ({ video, episode }: Seen, { lumas }: CheckedData): boolean =>
  lumas.get(cameraOf(video))?.has(episode.episode) === true;

/** Datasets of ours have the brightness of every picture as it was recorded. */
function checkLuma(
  { video, episode, from, pictures }: Seen,
  { lumas }: CheckedData,
  problems: Problems,
): void {
  const camera = cameraOf(video);
  const recorded = lumas.get(camera)?.get(episode.episode);
  if (recorded === undefined) return;
  const shown = pictures.map(lumaOf);
  const at = shown.findIndex((luma, i) => meanDifference(luma, recorded[from + i] ?? luma) > LUMA_SLACK);
  if (at < 0) return checkOrder(video, episode, from, findMisplaced(shown, recorded.slice(from)), problems);
  const match = [...lumas].find(([other, episodes]) => {
    const theirs = episodes.get(episode.episode)?.[from + at];
    return other !== camera && theirs !== undefined && meanDifference(shown[at]!, theirs) <= LUMA_SLACK;
  });
  const hint = match === undefined ? '' : `; it looks like that of camera ${match[0]}`;
  problems.add(
    'picture',
    video.file,
    from + at,
    `episode ${episode.episode}: the picture of row ${from + at} is not the one that was recorded${hint}`,
  );
}

function checkOrder(
  { file }: CheckedVideo,
  { episode }: EpisodeMeta,
  from: number,
  found: Misplaced | null,
  problems: Problems,
): void {
  if (found === null) return;
  const { from: at, lag } = found;
  const how =
    lag === null
      ? 'do not change as those that were recorded'
      : `are ${Math.abs(lag)} rows too ${lag > 0 ? 'late' : 'early'}`;
  problems.add(
    'picture',
    file,
    from + at,
    `episode ${episode}: the pictures from row ${from + at} on ${how}`,
  );
}

/**
 * The mean colour of a whole episode, against the episode's statistics; in datasets of ours also how much its colours differ:
 * LeRobot’s own deviation leaves out how pictures differ from each other.
 */
function checkColours({ video, episode, count, pictures }: Seen, isOurs: boolean, problems: Problems): void {
  if (count < episode.length) return;
  const claimed = (name: string) =>
    (episode.stats[video.key]?.[name] as unknown[] | undefined)?.flat(2).map(Number) ?? [];
  const [sums, squares] = [
    [0, 0, 0],
    [0, 0, 0],
  ];
  for (const picture of pictures)
    for (let i = 0; i < picture.length; i++) {
      const value = picture[i]! / 255;
      sums[i % 3]! += value;
      squares[i % 3]! += value * value;
    }
  const per = (pictures.length * pictures[0]!.length) / 3;
  const mean = sums.map((sum) => sum / per);
  const std = squares.map((sum, i) => Math.sqrt(Math.max(0, sum / per - mean[i]! ** 2)));
  const [means, stds] = [claimed('mean'), claimed('std')];
  const compare = (name: string, found: number[], all: number[], isWrong: (i: number) => boolean): void => {
    const i = all.length === 3 ? [0, 1, 2].findIndex(isWrong) : -1;
    if (i < 0) return;
    const message = `${video.key}.${name}[${i}] is ${all[i]}, but the pictures of ${video.file} have ${found[i]!.toFixed(4)}`;
    problems.add('stats', episode.file, episode.row, message);
  };
  compare('mean', mean, means, (i) => Math.abs(mean[i]! - means[i]!) > MEAN_SLACK);
  if (isOurs) compare('std', std, stds, (i) => std[i]! > stds[i]! + STD_SLACK);
}

/** Two cameras of an episode that show the same. */
function checkCameras(seen: readonly Seen[], problems: Problems): void {
  for (const one of seen)
    for (const other of seen) {
      if (other.episode !== one.episode || other.video.key <= one.video.key || one.count < FEW) continue;
      const isSame = one.pictures.every(
        (picture, i) => meanDifference(picture, other.pictures[i] ?? []) <= SAME_MEAN,
      );
      const isPlain = one.pictures.every((picture) => Math.max(...lumaOf(picture)) < BLACK);
      if (isSame && !isPlain)
        problems.add(
          'video-duplicate',
          other.video.file,
          null,
          `episode ${one.episode.episode}: the same pictures as ${one.video.file}`,
        );
    }
}
