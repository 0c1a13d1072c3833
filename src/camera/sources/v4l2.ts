import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { JpegSplitter } from '../jpeg-splitter.ts';
import type { PictureFormat, SourcePlugin } from '../source.ts';

// UNVERIFIED ON HARDWARE
const config = z.strictObject({
  device: z.string().default('/dev/video0').describe('video device'),
  gives: z
    .enum(['mjpeg', 'raw'])
    .default('mjpeg')
    .describe('mjpeg: passed on as it comes; raw: encoded by ffmpeg'),
  ffmpeg: z.string().default('ffmpeg').describe('the program, by name or path'),
});
type Config = z.infer<typeof config>;

/** Of ffmpeg's scale for MJPEG: 2 is best, 31 worst. */
const scaleOf = (quality: number): number => Math.round(31 - (29 * quality) / 100);

function argumentsOf(
  { device, gives }: Config,
  { widthPx, heightPx, fpsHz, quality }: PictureFormat,
): string[] {
  const input = gives === 'mjpeg' ? ['-input_format', 'mjpeg'] : [];
  const codec = gives === 'mjpeg' ? ['-c:v', 'copy'] : ['-c:v', 'mjpeg', '-q:v', String(scaleOf(quality))];
  return [
    ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-fflags', 'nobuffer', '-f', 'v4l2'],
    ...[...input, '-framerate', String(fpsHz), '-video_size', `${widthPx}x${heightPx}`, '-i', device],
    ...['-an', ...codec, '-flush_packets', '1', '-f', 'mjpeg', 'pipe:1'],
  ];
}

function missing({ device, ffmpeg }: Config, child: ChildProcess | null): TeleopError {
  return child === null
    ? new TeleopError('camera-failed', `there is no video device ${device}`, {
        hint: 'List what there is with `ls /dev/video*` (and `v4l2-ctl --list-devices`), then set options.device.',
      })
    : new TeleopError('camera-failed', `${ffmpeg} is not installed`, {
        hint: 'Install it (`apt install ffmpeg`), or name the program with options.ffmpeg.',
      });
}

/** Pictures carry the instant at which their last byte came from ffmpeg: exposure and transfer lie before it. */
const plugin: SourcePlugin<Config> = {
  about: 'a camera of this machine (Video4Linux), read by ffmpeg',
  config,
  async open(settings, format, host) {
    const { device, ffmpeg } = settings;
    if (!existsSync(device)) throw missing(settings, null);
    const child = spawn(ffmpeg, argumentsOf(settings, format), { stdio: ['ignore', 'pipe', 'pipe'] });
    let open = true;
    let complaint = '';
    const splitter = new JpegSplitter((bytes) => {
      if (open) host.emit({ kind: 'jpeg', bytes }, host.clock.nowNs());
    });
    child.stdout.on('data', (bytes: Buffer) => splitter.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => {
      complaint = (complaint + bytes.toString()).slice(-2000);
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', () => reject(missing(settings, child)));
    });
    child.on('error', () => {});
    child.on('close', (code, signal) => {
      if (!open) return;
      const said = complaint.trim().split('\n').at(-1) || `it ended with ${code ?? signal}`;
      const hint = `Ask the device what it offers: ffmpeg -f v4l2 -list_formats all -i ${device}. Without MJPEG set options.gives to raw.`;
      host.fail(new TeleopError('camera-failed', `ffmpeg on ${device}: ${said}`, { hint }));
    });
    return {
      dispose() {
        open = false;
        child.kill('SIGKILL');
        // What a wrapper started goes on writing otherwise, and holds this process.
        child.stdout.destroy();
        child.stderr.destroy();
      },
    };
  },
};

export default plugin;
