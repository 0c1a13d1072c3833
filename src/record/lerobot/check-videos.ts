import { existsSync } from 'node:fs';
import path from 'node:path';
import { firstFalseKey } from '../mp4/key-pictures.ts';
import { readVideoTrack, type VideoTrack } from '../mp4/video-track.ts';
import type { EpisodeMeta } from './episode-meta.ts';
import { type DatasetInfo, type Feature, pictureSize, videoKeysOf } from './layout.ts';
import type { Problems } from './problems.ts';

/** Loaders reject a picture further than this from the requested time. */
const TOLERANCE_S = 1e-4;

/** A readable video, and the episodes it holds. */
export interface CheckedVideo {
  key: string;
  file: string;
  track: VideoTrack;
  episodes: EpisodeMeta[];
}

/** Checks the tables of every video; returns the readable ones. */
export function checkVideos(
  dir: string,
  info: DatasetInfo,
  episodes: readonly EpisodeMeta[],
  problems: Problems,
): CheckedVideo[] {
  const readable: CheckedVideo[] = [];
  for (const key of videoKeysOf(info.features)) {
    const files = new Set(episodes.flatMap(({ videos }) => videos[key]?.file ?? []));
    for (const file of [...files].sort()) {
      const inside = episodes.filter(({ videos }) => videos[key]?.file === file);
      if (!existsSync(path.join(dir, file))) {
        problems.add('file-missing', file, null, 'loaders will look for it on the Hub');
        continue;
      }
      try {
        const video = { key, file, track: readVideoTrack(path.join(dir, file)), episodes: inside };
        checkVideo(info, video, problems);
        checkKeys(dir, video, problems);
        readable.push(video);
      } catch (error) {
        problems.add('file-unreadable', file, null, (error as Error).message);
      }
    }
  }
  return readable;
}

function checkVideo({ fps, features }: DatasetInfo, video: CheckedVideo, problems: Problems): void {
  const { key, file, track, episodes } = video;
  const { widthPx, heightPx } = pictureSize(features[key]!);
  if (track.widthPx !== widthPx || track.heightPx !== heightPx)
    problems.add(
      'video-size',
      file,
      null,
      `${track.widthPx} × ${track.heightPx}, but ${widthPx} × ${heightPx} is declared`,
    );
  const rows = episodes.reduce((sum, { length }) => sum + length, 0);
  if (track.timesS.length !== rows)
    problems.add('video-frames', file, null, `${track.timesS.length} pictures for ${rows} rows`);
  checkDeclared(features[key]!, fps, video, problems);
  checkBytes(video, problems);
  checkRate(fps, file, track, problems);
  checkEpisodeRanges(fps, video, problems);
}

/** Names of encoders that some writers declare instead of the codec. */
const CODEC_OF_ENCODER: Record<string, string> = {
  libsvtav1: 'av1',
  'libaom-av1': 'av1',
  libx264: 'h264',
  h265: 'hevc',
  libx265: 'hevc',
};

/** The details of a video feature are optional; where they are given, they must be true. */
function checkDeclared(
  feature: Feature,
  fps: number,
  { file, track }: CheckedVideo,
  problems: Problems,
): void {
  const declared = feature.info ?? {};
  const compare = (what: string, found: unknown, as = (value: unknown) => value): void => {
    const value = declared[what];
    if (value === undefined || value === null || as(value) === found) return;
    problems.add(
      'video-codec',
      file,
      null,
      `${what} is declared as ${JSON.stringify(value)}, not ${String(found)}`,
    );
  };
  compare('video.codec', track.codec, (name) => CODEC_OF_ENCODER[String(name)] ?? name);
  if (track.pixelFormat !== null)
    compare('video.pix_fmt', track.pixelFormat, (name) => String(name).replace('yuvj', 'yuv'));
  compare('video.width', track.widthPx);
  compare('video.height', track.heightPx);
  compare('video.fps', fps);
  compare('has_audio', track.hasAudio);
}

function checkBytes({ file, track }: CheckedVideo, problems: Problems): void {
  if (track.firstOutside >= 0)
    problems.add(
      'video-data',
      file,
      track.firstOutside,
      `the data of picture ${track.firstOutside} lies outside the file`,
    );
  else if (track.isTruncated) problems.add('video-data', file, null, 'the file ends inside a box');
  if (track.samples.isKey[0] === 0)
    problems.add('video-data', file, 0, 'the first picture cannot be decoded without an earlier one');
  if (track.isEdited) problems.add('video-edit', file, null, 'its edit list hides or repeats pictures');
}

function checkKeys(dir: string, { file, track }: CheckedVideo, problems: Problems): void {
  if (track.firstOutside >= 0) return;
  const at = firstFalseKey(path.join(dir, file), track);
  if (at < 0) return;
  const message = `picture ${at} is listed as a key picture, but needs earlier ones: loaders that begin there show another`;
  problems.add('video-data', file, at, message);
}

function checkEpisodeRanges(fps: number, { key, file, episodes }: CheckedVideo, problems: Problems): void {
  const inOrder = [...episodes].sort((a, b) => a.videos[key]!.fromS - b.videos[key]!.fromS);
  let frame = 0;
  for (const { file: at, row, episode, length, videos } of inOrder) {
    const { fromS, toS } = videos[key]!;
    const dueS = frame / fps;
    if (!(Math.abs(fromS - dueS) <= TOLERANCE_S))
      problems.add(
        'video-range',
        at,
        row,
        `episode ${episode} is declared to start at ${fromS} s of ${file}, but its pictures start at ${dueS} s`,
      );
    // No loader reads the end; half a frame separates a wrong episode from rounding.
    if (!(Math.abs(toS - fromS - length / fps) <= 0.5 / fps))
      problems.add(
        'video-range',
        at,
        row,
        `episode ${episode} has ${length} rows, but ${(toS - fromS).toFixed(4)} s of ${file}`,
      );
    frame += length;
  }
}

function checkRate(fps: number, file: string, track: VideoTrack, problems: Problems): void {
  const { timesS, timescale } = track;
  const startS = timesS[0] ?? 0;
  if (Math.abs(startS) > TOLERANCE_S)
    problems.add('video-start', file, null, `the first picture is shown at ${startS.toFixed(6)} s`);
  const lengthS = timesS.length / fps;
  if (Math.abs(track.durationS - lengthS) > 0.5 / fps)
    problems.add(
      'video-rate',
      file,
      null,
      `its header states ${track.durationS.toFixed(4)} s for ${timesS.length} pictures at ${fps} fps`,
    );
  for (let frame = 0; frame < timesS.length; frame++) {
    const errorS = timesS[frame]! - startS - frame / fps;
    if (Math.abs(errorS) <= TOLERANCE_S) continue;
    // The error from rounding to a coarse unit stays below one unit; that of a wrong rate grows.
    const isRounding = timescale % fps !== 0 && Math.abs(errorS) < 1 / timescale;
    problems.add(
      isRounding ? 'video-timescale' : 'video-rate',
      file,
      frame,
      `picture ${frame} is shown at ${timesS[frame]!.toFixed(6)} s, ${(1000 * errorS).toFixed(3)} ms from its time at ${fps} fps (timescale ${timescale})`,
    );
    return;
  }
}
