import { spawn } from 'node:child_process';
import { constants, copyFileSync, linkSync, lstatSync } from 'node:fs';
import { TeleopError } from '../../core/errors.ts';
import { syncFile } from '../lerobot/parquet.ts';
import { type Codec, ENCODER_ARGUMENTS } from '../lerobot/video.ts';
import { canCut, cutVideo } from '../mp4/cut.ts';
import { timescaleOf } from '../mp4/timescale.ts';
import type { VideoTrack } from '../mp4/video-track.ts';

/** How an episode's pictures got into the new dataset. */
export type Method = 'kept' | 'cut' | 'encoded';

export interface VideoPart {
  file: string;
  track: VideoTrack;
  /** In the file. */
  from: number;
  count: number;
  fps: number;
  /** Share the file's bytes with the source: only if the source is about to go. */
  mayLink: boolean;
}

/** Writes the pictures of a part: the whole file as it is, encoded pictures copied, or encoded again. */
export async function writePart(part: VideoPart, out: string): Promise<Method> {
  const { file, track, from, count, fps, mayLink } = part;
  if (from === 0 && count === track.timesS.length) {
    // A symbolic link leads out of the dataset, for example into a hub's cache.
    if (!mayLink || lstatSync(file).isSymbolicLink() || !linked(file, out)) {
      copyFileSync(file, out, constants.COPYFILE_FICLONE);
      syncFile(out);
    }
    return 'kept';
  }
  if (canCut(track, from, count)) {
    cutVideo(file, out, from, count, fps);
    return 'cut';
  }
  await encodeAgain(part, out);
  syncFile(out);
  return 'encoded';
}

/** False on file systems without links. */
function linked(file: string, out: string): boolean {
  try {
    linkSync(file, out);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'].includes(code)) return false;
    throw error;
  }
}

function encodeAgain({ file, track, from, count, fps }: VideoPart, out: string): Promise<void> {
  const encoder = ENCODER_ARGUMENTS[track.codec as Codec];
  if (encoder === undefined)
    throw new TeleopError('bad-dataset', `${file}: cannot encode ${track.codec}`, {
      hint: 'Cut at a key picture, or delete the episode.',
    });
  // Half a picture early, so that rounding cannot skip one.
  const seek = from === 0 ? [] : ['-ss', ((from - 0.5) / fps).toFixed(6)];
  const child = spawn(
    'ffmpeg',
    [
      ...['-hide_banner', '-loglevel', 'error', '-y', ...seek, '-i', file, '-map', '0:v:0', '-an'],
      ...['-frames:v', String(count), '-vf', `setpts=N/(${fps}*TB)`, '-fps_mode', 'passthrough'],
      ...[...encoder, '-g', '2', '-pix_fmt', 'yuv420p', '-video_track_timescale', String(timescaleOf(fps))],
      ...['-movflags', '+faststart', '-f', 'mp4', out],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-2000);
  });
  const failed = (why: string) =>
    new TeleopError('encoder-failed', `ffmpeg: ${why}`, {
      hint: 'Install ffmpeg (Debian: apt install ffmpeg), and check the free disk space: df -h',
    });
  return new Promise((resolve, reject) => {
    child.once('error', ({ message }) => reject(failed(message)));
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(failed(errors.trim().split('\n').at(-1) ?? `exit code ${code}`)),
    );
  });
}
