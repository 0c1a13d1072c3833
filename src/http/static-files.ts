import { createReadStream, existsSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream';
import { TeleopError } from '../core/errors.ts';
import { packageRoot } from '../files/package-root.ts';
import { decoded, requestUrl } from './request-url.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.map': 'application/json',
};

const HEADERS = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Folder of the built pages. */
export function webRoot(): string {
  const root = path.join(packageRoot, 'dist', 'web');
  if (existsSync(path.join(root, 'index.html'))) return root;
  throw new TeleopError('build-missing', 'the console page has not been built', {
    hint: 'Run `npm run build`.',
  });
}

/** Serves the files below `root`, nothing above it. `pageHeaders` are sent with pages only. */
export function serveStatic(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  pageHeaders: Record<string, string> = {},
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return reply(response, 405, 'Method not allowed');
  const name = decoded(requestUrl(request)?.pathname ?? '%');
  if (name === null || name.includes('\0')) return reply(response, 400, 'Bad address');
  const file = fileOf(root, name);
  const stat = statSync(file ?? root, { throwIfNoEntry: false });
  if (file === null || !stat?.isFile()) return reply(response, 404, 'Not found');
  const cache = /\/assets\//.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache';
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, {
    ...HEADERS,
    ...(type.startsWith('text/html') ? pageHeaders : {}),
    'content-type': type,
    'content-length': stat.size,
    'cache-control': cache,
  });
  if (request.method === 'HEAD') response.end();
  else pipeline(createReadStream(file), response, () => {});
}

/** A page is also found without its extension: `/vr` is `vr.html`. */
function fileOf(root: string, name: string): string | null {
  const file = path.join(root, name === '/' ? 'index.html' : name);
  if (!file.startsWith(root + path.sep)) return null;
  return /^\/[\w-]+$/.test(name) && !existsSync(file) ? `${file}.html` : file;
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
