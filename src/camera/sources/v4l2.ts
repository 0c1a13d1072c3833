import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { JpegSplitter } from '../jpeg-splitter.ts';
import type { PictureFormat, SourcePlugin } from '../source.ts';

// UNVERIFIED ON HARDWARE
const config = z.strictObject({
  device: z.string().default('/dev/video0').describe('video device'),
  gives: z.enum(['mjpeg', 'raw']).default('mjpeg').describe('mjpeg: passed through; raw: encoded by ffmpeg'),
  ffmpeg: z.string().default('ffmpeg').describe('name or path of the ffmpeg program'),
});
type Config = z.infer<typeof config>;

/** ffmpeg's MJPEG quality scale: 2 is best, 31 worst. */
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
        hint: 'List the devices with `ls /dev/video*` (or `v4l2-ctl --list-devices`), then set options.device.',
      })
    : new TeleopError('camera-failed', `${ffmpeg} is not installed`, {
        hint: 'Install it (`apt install ffmpeg`), or set options.ffmpeg to its path.',
      });
}

/** A picture's capture time is when its last byte came from ffmpeg, so exposure and transfer precede it. */
const plugin: SourcePlugin<Config> = {
  about: 'a camera on this machine (Video4Linux), read through ffmpeg',
  config,
  async open(settings, format, host) {
    const { device, ffmpeg } = settings;
    if (!existsSync(device)) throw missing(settings, null);
    const child = spawn(ffmpeg, argumentsOf(settings, format), { stdio: ['ignore', 'pipe', 'pipe'] });
    let open = true;
    let errors = '';
    const splitter = new JpegSplitter((bytes) => {
      if (open) host.emit({ kind: 'jpeg', bytes }, host.clock.nowNs());
    });
    child.stdout.on('data', (bytes: Buffer) => splitter.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => {
      errors = (errors + bytes.toString()).slice(-2000);
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', () => reject(missing(settings, child)));
    });
    child.on('error', () => {});
    child.on('close', (code, signal) => {
      if (!open) return;
      const reason = errors.trim().split('\n').at(-1) || `exited with ${code ?? signal}`;
      const hint = `List the device's formats: ffmpeg -f v4l2 -list_formats all -i ${device}. If MJPEG is not among them, set options.gives to raw.`;
      host.fail(new TeleopError('camera-failed', `ffmpeg on ${device}: ${reason}`, { hint }));
    });
    return {
      dispose() {
        open = false;
        child.kill('SIGKILL');
        // Otherwise a child of a wrapper script keeps the pipes, and this process, open.
        child.stdout.destroy();
        child.stderr.destroy();
      },
    };
  },
};

export default plugin;
