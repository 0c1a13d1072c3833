import { readFile } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { z } from 'zod';
import { TeleopError } from '../../core/errors.ts';
import { JpegSplitter } from '../jpeg-splitter.ts';
import type { CameraSource, SourceHost, SourcePlugin } from '../source.ts';

const config = z.strictObject({
  from: z
    .string()
    .default('')
    .describe('http:// or https:// URL of a multipart stream, or path of an MJPEG file'),
});

const CONNECT_MS = 5000;

const failed = (message: string, hint: string, cause?: unknown): TeleopError =>
  new TeleopError('camera-failed', message, { hint, ...(cause === undefined ? {} : { cause }) });

/** Plays the pictures of a file in a loop at the camera's rate. */
async function openFile(file: string, host: SourceHost): Promise<CameraSource> {
  const pictures: Uint8Array[] = [];
  const hint = 'Set options.from to an HTTP URL or to a file of consecutive JPEG pictures.';
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw failed(`${file || 'no file'} cannot be read`, hint, cause);
  });
  new JpegSplitter((jpeg) => pictures.push(jpeg)).push(bytes);
  if (pictures.length === 0) throw failed(`${file} contains no JPEG picture`, hint);
  let next = 0;
  let open = true;
  host.everyFrame((nowNs) => {
    if (open) host.emit({ kind: 'jpeg', bytes: pictures[next++ % pictures.length]! }, nowNs);
  });
  return {
    dispose() {
      open = false;
    },
  };
}

/** A stream that ends or breaks is a failure: the host reopens it. */
function openStream(url: URL, host: SourceHost): Promise<CameraSource> {
  // The URL may contain a password: leave it out of messages.
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  const hint = `Check that the camera answers: curl -v --max-time 2 -o /dev/null ${name}`;
  return new Promise((resolve, reject) => {
    let open = true;
    const end = (message: string, cause?: unknown) => {
      const error = failed(`${name}: ${message}`, hint, cause);
      reject(error);
      if (open) host.fail(error);
    };
    const splitter = new JpegSplitter((bytes) => {
      if (open) host.emit({ kind: 'jpeg', bytes }, host.clock.nowNs());
    });
    const onResponse = (response: IncomingMessage) => {
      if (response.statusCode !== 200) {
        response.destroy();
        open = false;
        return reject(failed(`${name} returned HTTP status ${response.statusCode}`, hint));
      }
      response.on('data', (bytes: Buffer) => splitter.push(bytes));
      response.on('close', () => end('the stream ended'));
      response.on('error', () => {});
      resolve({ dispose });
    };
    const request = (url.protocol === 'https:' ? https : http).get(url, { timeout: CONNECT_MS }, onResponse);
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', (error) => end(error.message, error));
    const dispose = () => {
      open = false;
      request.destroy();
    };
  });
}

const plugin: SourcePlugin<z.infer<typeof config>> = {
  about: 'MJPEG from a network camera (HTTP multipart) or a file',
  config,
  open: ({ from }, _format, host) =>
    /^https?:/.test(from) ? openStream(new URL(from), host) : openFile(from, host),
};

export default plugin;
