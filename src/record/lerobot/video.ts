import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { TeleopError } from '../../core/errors.ts';
import { badEpisode } from './grid.ts';
import { jpegSize } from './jpeg-size.ts';
import type { SourceFrame } from './layout.ts';
import { PictureStats, type Stats } from './stats.ts';

export const CODECS = ['av1', 'h264'] as const;
export type Codec = (typeof CODECS)[number];

export interface PictureSize {
  widthPx: number;
  heightPx: number;
}

/** Every second picture stands alone, so that a loader that jumps about decodes at most two. */
const GROUP = '2';
const ENCODER: Record<Codec, readonly string[]> = {
  av1: ['-c:v', 'libsvtav1', '-preset', '12', '-crf', '30'],
  h264: ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-bf', '0'],
};
/** Statistics look at pictures of this width, and at no more than this many. */
const STATS_WIDTH_PX = 160;
const STATS_PICTURES = 300;

export interface VideoJob {
  camera: string;
  file: string;
  codec: Codec;
  fps: number;
  size: PictureSize;
  /** The picture of every row, by its capture time. */
  captures: readonly number[];
  frames: AsyncIterable<SourceFrame>;
  /** Told after every picture. */
  onFrame?: () => void;
}

/** The size that is encoded: codecs with half the colour resolution need even numbers. */
export const evenSize = ({ widthPx, heightPx }: PictureSize): PictureSize => ({
  widthPx: widthPx + (widthPx % 2),
  heightPx: heightPx + (heightPx % 2),
});

type Encoder = ChildProcessByStdio<Writable, Readable, Readable>;

/** One mp4 with exactly one picture per row at a constant rate, and what the pictures look like in numbers. */
export async function encodeVideo(job: VideoJob): Promise<Stats> {
  mkdirSync(path.dirname(job.file), { recursive: true });
  const child = spawn('ffmpeg', ffmpegArguments(job), { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = exitOf(child);
  ended.catch(() => {});
  // Writing to an encoder that died fails; why it died is told by `ended`.
  child.stdin.on('error', () => {});
  const stats = collectStats(child.stdout, job);
  stats.catch(() => {});
  try {
    await feed(child, gateOf(child, ended), job);
  } catch (error) {
    child.kill('SIGKILL');
    await ended.catch(() => {});
    throw error;
  }
  child.stdin.end();
  await ended;
  return (await stats).finish();
}

function ffmpegArguments({ codec, fps, size, captures, file }: VideoJob): string[] {
  const even = evenSize(size);
  const every = Math.max(1, Math.ceil(captures.length / STATS_PICTURES));
  const { widthPx, heightPx } = statsSize(size);
  const look = `select=not(mod(n\\,${every})),scale=${widthPx}:${heightPx}:flags=area`;
  return [
    ...['-hide_banner', '-loglevel', 'error', '-y', '-f', 'image2pipe', '-c:v', 'mjpeg'],
    ...['-framerate', String(fps), '-i', 'pipe:0'],
    ...['-map', '0:v', '-an', '-vf', `pad=${even.widthPx}:${even.heightPx}`, ...ENCODER[codec]],
    ...['-g', GROUP, '-pix_fmt', 'yuv420p', '-r', String(fps), '-fps_mode', 'cfr'],
    ...['-video_track_timescale', String(fps * 512), '-movflags', '+faststart', '-f', 'mp4', file],
    ...[
      '-map',
      '0:v',
      '-vf',
      look,
      '-fps_mode',
      'passthrough',
      '-pix_fmt',
      'rgb24',
      '-f',
      'rawvideo',
      'pipe:1',
    ],
  ];
}

function statsSize({ widthPx, heightPx }: PictureSize): PictureSize {
  const width = Math.min(STATS_WIDTH_PX, widthPx);
  return { widthPx: width, heightPx: Math.max(1, Math.round((heightPx * width) / widthPx)) };
}

/** Hands over the picture of every row: again where rows share one, and none that no row shows. */
async function feed(child: Encoder, gate: Gate, job: VideoJob): Promise<void> {
  const { camera, size, captures, frames, onFrame } = job;
  let at = 0;
  for await (const { captureNs, bytes } of frames) {
    if (captures[at] !== captureNs) continue;
    const found = jpegSize(bytes);
    if (found?.widthPx !== size.widthPx || found.heightPx !== size.heightPx)
      throw badEpisode(
        `camera ${camera}: the picture of row ${at} is ${found === null ? 'not a JPEG' : `${found.widthPx} × ${found.heightPx}`}, the first was ${size.widthPx} × ${size.heightPx}`,
        'Leave this episode out: a video has pictures of one size.',
      );
    for (; captures[at] === captureNs; at++) {
      if (!child.stdin.write(bytes)) await gate.wait();
      onFrame?.();
    }
    if (at === captures.length || gate.over) break;
  }
  if (at < captures.length && !gate.over)
    throw badEpisode(
      `camera ${camera}: the picture of row ${at} is not in the recording`,
      'The file is damaged; `farhand recover` keeps what can be kept.',
    );
}

interface Gate {
  /** It has ended, or never began: nothing more can be written. */
  readonly over: boolean;
  /** Until it takes more, or is over. */
  wait(): Promise<void>;
}

/** One at a time may wait. */
function gateOf(child: Encoder, ended: Promise<void>): Gate {
  let over = false;
  let go = () => {};
  const end = () => {
    over = true;
    go();
  };
  child.stdin.on('drain', () => go());
  ended.then(end, end);
  return {
    get over() {
      return over;
    },
    wait: () =>
      new Promise((resolve) => {
        go = resolve;
        if (over) resolve();
      }),
  };
}

async function collectStats(stdout: Readable, { size }: VideoJob): Promise<PictureStats> {
  const { widthPx, heightPx } = statsSize(size);
  const picture = new Uint8Array(3 * widthPx * heightPx);
  const stats = new PictureStats();
  let filled = 0;
  for await (const chunk of stdout as AsyncIterable<Buffer>)
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + picture.length - filled);
      picture.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < picture.length) continue;
      stats.add(picture);
      filled = 0;
    }
  return stats;
}

function exitOf(child: Encoder): Promise<void> {
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-2000);
  });
  return new Promise((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new TeleopError('encoder-failed', `ffmpeg does not start: ${cause.message}`, {
          hint: 'Install ffmpeg (Debian: apt install ffmpeg) and see that it is on the PATH.',
          cause,
        }),
      ),
    );
    child.once('close', (code) => {
      if (code === 0) return resolve();
      const why = errors.trim().split('\n').at(-1) || 'no reason given';
      reject(
        new TeleopError('encoder-failed', `ffmpeg ended with ${code ?? 'a signal'}: ${why}`, {
          hint: 'Try the other codec (--codec h264 or av1), and look for free space on the disk.',
        }),
      );
    });
  });
}
