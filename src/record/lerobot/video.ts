import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { TeleopError } from '../../core/errors.ts';
import { timescaleOf } from '../mp4/timescale.ts';
import { badEpisode } from './grid.ts';
import { jpegSize } from './jpeg-size.ts';
import { LUMA_CELLS, type SourceFrame } from './layout.ts';
import { PictureStats, type Stats } from './stats.ts';

export const CODECS = ['av1', 'h264'] as const;
export type Codec = (typeof CODECS)[number];

export interface PictureSize {
  widthPx: number;
  heightPx: number;
}

/** Every second picture is a key frame, so that random access decodes at most two pictures. */
const GROUP = '2';
export const ENCODER_ARGUMENTS: Record<Codec, readonly string[]> = {
  av1: ['-c:v', 'libsvtav1', '-preset', '12', '-crf', '30'],
  // Key pictures at the same rows in all cameras: an episode can be cut there without encoding.
  h264: ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-bf', '0', '-sc_threshold', '0'],
};
/** Statistics use pictures of this width, and at most this many. */
const STATS_WIDTH_PX = 160;
const STATS_PICTURES = 300;

export interface VideoJob {
  camera: string;
  file: string;
  codec: Codec;
  fps: number;
  size: PictureSize;
  /** The capture time of each row's picture. */
  captures: readonly number[];
  frames: AsyncIterable<SourceFrame>;
  /** Called after every picture. */
  onFrame?: () => void;
}

/** The encoded size: codecs with halved colour resolution need even dimensions. */
export const evenSize = ({ widthPx, heightPx }: PictureSize): PictureSize => ({
  widthPx: widthPx + (widthPx % 2),
  heightPx: heightPx + (heightPx % 2),
});

type Encoder = ChildProcessByStdio<Writable, Readable, Readable>;
const LUMA_PIPE = 3;

export interface EncodedVideo {
  stats: Stats;
  /** The brightness of each picture before encoding, in 4 × 4 cells. */
  lumas: number[][];
}

/** Writes one mp4 with exactly one picture per row at a constant rate. */
export async function encodeVideo(job: VideoJob): Promise<EncodedVideo> {
  mkdirSync(path.dirname(job.file), { recursive: true });
  const child = spawn('ffmpeg', ffmpegArguments(job), {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  }) as Encoder;
  const ended = exitOf(child);
  ended.catch(() => {});
  // Writes to a dead encoder fail; `ended` carries the reason.
  child.stdin.on('error', () => {});
  const stats = collectStats(child.stdout, job.size);
  stats.catch(() => {});
  const lumas = collectLumas(child.stdio[LUMA_PIPE] as Readable);
  lumas.catch(() => {});
  try {
    await feed(child, gateOf(child, ended), job);
  } catch (error) {
    child.kill('SIGKILL');
    await ended.catch(() => {});
    throw error;
  }
  child.stdin.end();
  await ended;
  return { stats: (await stats).finish(), lumas: await lumas };
}

function ffmpegArguments({ codec, fps, size, captures, file }: VideoJob): string[] {
  const even = evenSize(size);
  const every = Math.max(1, Math.ceil(captures.length / STATS_PICTURES));
  const { widthPx, heightPx } = statsSize(size);
  const look = `select=not(mod(n\\,${every})),scale=${widthPx}:${heightPx}:flags=area`;
  return [
    ...['-hide_banner', '-loglevel', 'error', '-y', '-f', 'image2pipe', '-c:v', 'mjpeg'],
    ...['-framerate', String(fps), '-i', 'pipe:0'],
    ...['-map', '0:v', '-an', '-vf', `pad=${even.widthPx}:${even.heightPx}`, ...ENCODER_ARGUMENTS[codec]],
    ...['-g', GROUP, '-pix_fmt', 'yuv420p', '-r', String(fps), '-fps_mode', 'cfr'],
    ...['-video_track_timescale', String(timescaleOf(fps)), '-movflags', '+faststart', '-f', 'mp4', file],
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
    ...['-map', '0:v', '-vf', `scale=${LUMA_CELLS}:${LUMA_CELLS}:flags=area,format=gray`],
    ...['-fps_mode', 'passthrough', '-pix_fmt', 'gray', '-f', 'rawvideo', `pipe:${LUMA_PIPE}`],
  ];
}

async function collectLumas(pipe: Readable): Promise<number[][]> {
  const chunks: Buffer[] = [];
  for await (const chunk of pipe as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const size = LUMA_CELLS ** 2;
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => [
    ...bytes.subarray(i * size, (i + 1) * size),
  ]);
}

/** Statistics of the pictures of a video, as an export computes them. */
export async function videoStats(file: string, size: PictureSize, pictures: number): Promise<Stats> {
  const { widthPx, heightPx } = statsSize(size);
  const every = Math.max(1, Math.ceil(pictures / STATS_PICTURES));
  const filter = `select=not(mod(n\\,${every})),scale=${widthPx}:${heightPx}:flags=area`;
  const child = spawn(
    'ffmpeg',
    [
      ...['-hide_banner', '-loglevel', 'error', '-i', file, '-map', '0:v:0', '-an', '-vf', filter],
      ...['-fps_mode', 'passthrough', '-pix_fmt', 'rgb24', '-f', 'rawvideo', 'pipe:1'],
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const ended = exitOf(child);
  ended.catch(() => {});
  child.stdin.end();
  const stats = await collectStats(child.stdout, size);
  await ended;
  return stats.finish();
}

function statsSize({ widthPx, heightPx }: PictureSize): PictureSize {
  const width = Math.min(STATS_WIDTH_PX, widthPx);
  return { widthPx: width, heightPx: Math.max(1, Math.round((heightPx * width) / widthPx)) };
}

/** Writes the picture of every row: repeated where rows share one, omitting pictures that no row uses. */
async function feed(child: Encoder, gate: Gate, job: VideoJob): Promise<void> {
  const { camera, size, captures, frames, onFrame } = job;
  let at = 0;
  for await (const { captureNs, bytes } of frames) {
    if (captures[at] !== captureNs) continue;
    const found = jpegSize(bytes);
    if (found?.widthPx !== size.widthPx || found.heightPx !== size.heightPx)
      throw badEpisode(
        `camera ${camera}: the picture of row ${at} is ${found === null ? 'not a JPEG' : `${found.widthPx} × ${found.heightPx}`}, but the first was ${size.widthPx} × ${size.heightPx}`,
        'Leave this episode out: all pictures of a video must have the same size.',
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
      'The file is damaged; recover what is left with `farhand recover`.',
    );
}

interface Gate {
  /** The encoder has exited or never started: nothing more can be written. */
  readonly over: boolean;
  /** Resolves when the encoder accepts more, or is over. */
  wait(): Promise<void>;
}

/** Only one caller may wait at a time. */
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

async function collectStats(stdout: Readable, size: PictureSize): Promise<PictureStats> {
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
        new TeleopError('encoder-failed', `ffmpeg failed to start: ${cause.message}`, {
          hint: 'Install ffmpeg (Debian: apt install ffmpeg) and make sure it is on the PATH.',
          cause,
        }),
      ),
    );
    child.once('close', (code) => {
      if (code === 0) return resolve();
      const why = errors.trim().split('\n').at(-1) || 'no reason given';
      reject(
        new TeleopError('encoder-failed', `ffmpeg exited with ${code ?? 'a signal'}: ${why}`, {
          hint: 'Try the other codec (--codec h264 or av1), and check the free disk space: df -h',
        }),
      );
    });
  });
}
