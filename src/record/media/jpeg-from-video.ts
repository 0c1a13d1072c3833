import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { TeleopError } from '../../core/errors.ts';

const HEADER_END = Buffer.from('\r\n\r\n');
const LENGTH = /Content-length: (\d+)/i;

/** Reads ffmpeg's multipart pictures, each of which says how long it is. */
class PartReader {
  #rest: Buffer = Buffer.alloc(0);

  push(data: Buffer): Uint8Array[] {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    const found: Uint8Array[] = [];
    for (;;) {
      const head = this.#rest.indexOf(HEADER_END);
      if (head < 0) return found;
      const length = Number(LENGTH.exec(this.#rest.toString('latin1', 0, head))?.[1]);
      if (!Number.isFinite(length)) throw new Error('ffmpeg sent a picture without its length');
      const from = head + HEADER_END.length;
      if (this.#rest.length < from + length) return found;
      found.push(Uint8Array.from(this.#rest.subarray(from, from + length)));
      this.#rest = this.#rest.subarray(from + length);
    }
  }
}

/** Hardly any loss: the pictures lost what they lost when they became H.264. */
const QUALITY = ['-q:v', '1', '-qmin', '1'];

/** Decodes H.264 that begins with a key picture: one JPEG for each picture, in order. */
export async function* jpegsFromVideo(pictures: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const child = spawn(
    'ffmpeg',
    [
      // A bare stream has no times: every picture in is one picture out.
      ...['-hide_banner', '-loglevel', 'error', '-probesize', '32', '-analyzeduration', '0', '-threads', '1'],
      ...['-f', 'h264', '-i', 'pipe:0', '-fps_mode', 'passthrough', '-c:v', 'mjpeg', ...QUALITY],
      ...['-pix_fmt', 'yuvj420p', '-f', 'mpjpeg', 'pipe:1'],
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-2000);
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(`it cannot be started: ${message}`));
    child.once('close', (code) =>
      resolve(code === 0 ? '' : errors.trim().split('\n').at(-1) || `exit code ${code}`),
    );
  });
  child.stdin.on('error', () => {});
  const fed = feed(child.stdin, pictures).catch((error: unknown) => {
    child.kill('SIGKILL');
    return error;
  });
  const reader = new PartReader();
  try {
    for await (const data of child.stdout as AsyncIterable<Buffer>) yield* reader.push(data);
    const why = await ended;
    const broken = await fed;
    if (broken !== undefined) throw broken;
    if (why !== '') throw decoderFailed(why);
  } finally {
    child.stdin.destroy();
    child.kill('SIGKILL');
  }
}

/** Reads a picture only when the decoder takes it. */
async function feed(stdin: Writable, pictures: Iterable<Uint8Array>): Promise<void> {
  const from = pictures[Symbol.iterator]();
  while (!stdin.destroyed) {
    const { value, done } = from.next();
    if (done === true) return void stdin.end();
    if (!stdin.write(value))
      await new Promise<void>((resolve) => {
        stdin.once('drain', resolve);
        stdin.once('close', resolve);
      });
  }
}

const decoderFailed = (why: string): TeleopError =>
  new TeleopError('encoder-failed', `ffmpeg cannot decode the H.264 of this recording: ${why}`, {
    hint: 'Install ffmpeg (Debian: apt install ffmpeg). A damaged file is repaired with `farhand recover`.',
  });
