import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { TeleopError } from '../../core/errors.ts';
import { FlvReader } from './flv-reader.ts';
import { matroskaHeader, matroskaPictures } from './matroska-writer.ts';

export interface EncoderSettings {
  /** 1, or 2 for a stereo pair: left and right half of one picture. */
  views: number;
  fpsHz: number;
  kbitS: number;
  /** For a recording: constant quality instead of a rate, and a key picture at least this often. */
  constantQuality?: { crf: number; keyEvery: number };
  /** Pictures in the encoder; a further one is not accepted. */
  mostInside?: number;
  /** The setting that does without it, for error messages. */
  otherwise?: string;
}

/** One picture as H.264: NAL units, each after its length in four bytes. Its bytes belong to the receiver. */
export interface EncodedPicture {
  captureNs: number;
  isKey: boolean;
  bytes: Buffer;
}

export interface EncoderHandlers {
  encoded(picture: EncodedPicture): void;
  /** The process has ended; it is not restarted. */
  failed(error: TeleopError): void;
}

/** Below the robot's own threads: what a person drives by, like that person's operator, and recordings, like JPEG. */
const LIVE_NICE = 5;
const RECORD_NICE = 10;
const MOST_INSIDE = 2;
/** The size of a picture may exceed the mean by this factor. */
const BUFFER_PICTURES = 3;
/** Time steps on ffmpeg's side. An odd millisecond requests a key picture: there is no other way to tell it. */
const STEP_MS = 20;
const KEY_IF = 'expr:eq(mod(round(t*1000),2),1)';

function rateOf({ fpsHz, kbitS, constantQuality }: EncoderSettings): string[] {
  if (constantQuality !== undefined) {
    const { crf, keyEvery } = constantQuality;
    const keys = ['-g', String(keyEvery), '-sc_threshold', '0'];
    return ['-preset', 'veryfast', '-profile:v', 'main', '-crf', String(crf), ...keys];
  }
  const rate = ['-b:v', `${kbitS}k`, '-maxrate', `${kbitS}k`];
  const buffer = ['-bufsize', `${Math.ceil((BUFFER_PICTURES * kbitS) / fpsHz)}k`];
  return ['-preset', 'superfast', '-profile:v', 'baseline', ...rate, ...buffer, '-g', '100000'];
}

function argumentsOf(settings: EncoderSettings): string[] {
  const { views, fpsHz } = settings;
  const even = 'pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p';
  const picture = views === 2 ? ['-filter_complex', `[0:0][0:1]hstack,${even}`] : ['-vf', even];
  return [
    ...['-hide_banner', '-loglevel', 'error', '-probesize', '32', '-analyzeduration', '0', '-threads', '1'],
    ...['-f', 'matroska', '-i', 'pipe:0', ...picture, '-fps_mode', 'passthrough', '-enc_time_base', '1/1000'],
    ...['-c:v', 'libx264', '-tune', 'zerolatency'],
    // Rates are per picture, whatever the time steps are.
    ...['-x264-params', `fps=${Math.round(fpsHz * 1000)}/1000`, '-threads', '1', ...rateOf(settings)],
    ...['-forced-idr', '1', '-force_key_frames', KEY_IF],
    ...['-flush_packets', '1', '-f', 'flv', 'pipe:1'],
  ];
}

/** JPEG in, H.264 out, by an ffmpeg process: one picture out for each picture in, with no further delay. */
export class H264Encoder {
  readonly settings: EncoderSettings;
  readonly #handlers: EncoderHandlers;
  readonly #child: ChildProcess;
  /** Capture times of the pictures inside, by ffmpeg's time. */
  readonly #inside = new Map<number, number>();
  #timeMs = -STEP_MS;
  #errors = '';
  #closed = false;

  constructor(settings: EncoderSettings, handlers: EncoderHandlers, ffmpeg = 'ffmpeg') {
    this.settings = settings;
    this.#handlers = handlers;
    this.#child = spawn(ffmpeg, argumentsOf(settings), { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdin, stdout, stderr, pid } = this.#child;
    if (pid !== undefined) tryNice(pid, settings.constantQuality === undefined ? LIVE_NICE : RECORD_NICE);
    const reader = new FlvReader(({ timeMs, isKey, bytes }) => this.#out(timeMs, isKey, bytes));
    stdout!.on('data', (data: Buffer) => reader.push(data));
    stderr!.on('data', (data: Buffer) => {
      this.#errors = (this.#errors + data.toString()).slice(-2000);
    });
    stdin!.on('error', () => {});
    this.#child.on('error', (cause) => this.#fail(missing(ffmpeg, settings, cause)));
    this.#child.on('close', (code, signal) => {
      const reason = this.#errors.trim().split('\n').at(-1) || `it exited with ${code ?? signal}`;
      this.#fail(failed(reason, settings));
    });
    stdin!.write(matroskaHeader(settings.views));
  }

  /** Pictures in the encoder; one that it could not read stays until the next one leaves. */
  get inside(): number {
    return this.#inside.size;
  }

  /** One picture per view. False: the encoder is busy, the picture was dropped. */
  encode(jpegs: readonly Uint8Array[], captureNs: number, isKey: boolean): boolean {
    if (this.#closed || this.#inside.size >= (this.settings.mostInside ?? MOST_INSIDE)) return false;
    this.#timeMs += STEP_MS - (this.#timeMs & 1);
    if (isKey && this.#timeMs > 0) this.#timeMs++;
    this.#inside.set(this.#timeMs, captureNs);
    this.#child.stdin!.write(matroskaPictures(this.#timeMs, jpegs));
    return true;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#child.kill('SIGKILL');
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy();
  }

  #out(timeMs: number, isKey: boolean, bytes: Buffer): void {
    const captureNs = this.#inside.get(timeMs);
    if (this.#closed || captureNs === undefined) return;
    // Pictures leave in order, so earlier ones are lost.
    for (const earlier of this.#inside.keys()) if (earlier <= timeMs) this.#inside.delete(earlier);
    this.#handlers.encoded({ captureNs, isKey, bytes });
  }

  #fail(error: TeleopError): void {
    if (this.#closed) return;
    this.close();
    this.#handlers.failed(error);
  }
}

function tryNice(pid: number, nice: number): void {
  try {
    setPriority(pid, nice);
  } catch {
    // It may have ended already.
  }
}

const JPEG_INSTEAD = 'fleet.video=jpeg';

const missing = (
  ffmpeg: string,
  { otherwise = JPEG_INSTEAD }: EncoderSettings,
  cause: unknown,
): TeleopError =>
  new TeleopError('native-unavailable', `${ffmpeg} cannot be started to encode H.264`, {
    hint: `Install it (\`apt install ffmpeg\`), or set ${otherwise}.`,
    cause,
  });

const failed = (reason: string, { otherwise = JPEG_INSTEAD }: EncoderSettings): TeleopError =>
  new TeleopError('camera-failed', `ffmpeg stopped encoding H.264: ${reason}`, {
    hint: `ffmpeg needs libx264 (\`ffmpeg -encoders | grep libx264\`); or set ${otherwise}.`,
  });
