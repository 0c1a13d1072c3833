import { existsSync } from 'node:fs';
import path from 'node:path';
import type { EpisodeMeta } from './episode-meta.ts';
import { type DatasetInfo, videoKeysOf } from './layout.ts';
import { readVideoTrack, type VideoTrack } from './mp4.ts';
import type { Problems } from './problems.ts';

/** Loaders reject a picture further than this from the requested time. */
const TOLERANCE_S = 1e-4;

export function checkVideos(
  dir: string,
  info: DatasetInfo,
  episodes: readonly EpisodeMeta[],
  problems: Problems,
): void {
  for (const key of videoKeysOf(info.features)) {
    const files = new Set(episodes.flatMap(({ videos }) => videos[key]?.file ?? []));
    for (const file of [...files].sort()) {
      const inside = episodes.filter(({ videos }) => videos[key]?.file === file);
      if (!existsSync(path.join(dir, file))) {
        problems.add('file-missing', file, null, 'loaders will look for it on the Hub');
        continue;
      }
      try {
        checkVideo(info, key, file, readVideoTrack(path.join(dir, file)), inside, problems);
      } catch (error) {
        problems.add('file-unreadable', file, null, (error as Error).message);
      }
    }
  }
}

function checkVideo(
  { fps, features }: DatasetInfo,
  key: string,
  file: string,
  track: VideoTrack,
  episodes: readonly EpisodeMeta[],
  problems: Problems,
): void {
  const [heightPx = 0, widthPx = 0] = features[key]!.shape;
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
  checkRate(fps, file, track, problems);
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

function checkRate(fps: number, file: string, { timesS, timescale }: VideoTrack, problems: Problems): void {
  for (let frame = 0; frame < timesS.length; frame++) {
    const errorS = timesS[frame]! - frame / fps;
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
