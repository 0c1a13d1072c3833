import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';

export const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

export const hostOf = (request: IncomingMessage): string =>
  (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase();

/** Prevents DNS rebinding, where a foreign page resolves its own name to this machine. */
export function isKnownHost(request: IncomingMessage): boolean {
  const name = hostOf(request);
  const local = request.socket.localAddress?.replace(/^::ffff:/, '');
  const bound = local?.includes(':') ? `[${local}]` : local;
  const own = hostname().toLowerCase();
  return LOCAL_NAMES.has(name) || name === bound || name === own || name === `${own}.local`;
}

/**
 * Our own page, or not a page at all: browsers send the origin with sockets and with every request but reads.
 */
export function isOwnOrigin(request: IncomingMessage): boolean {
  const { origin, host } = request.headers;
  if (origin !== undefined) return origin === `${isSecure(request) ? 'https' : 'http'}://${host}`;
  const site = request.headers['sec-fetch-site'];
  const reads = request.method === 'GET' || request.method === 'HEAD';
  return (
    reads &&
    request.headers.upgrade === undefined &&
    [undefined, 'same-origin', 'none'].includes(String(site ?? 'none'))
  );
}

export const isSecure = (request: IncomingMessage): boolean => 'encrypted' in request.socket;
