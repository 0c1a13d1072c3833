import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { TeleopError } from '../core/errors.ts';
import { ConnectionGuard } from '../http/connection-guard.ts';
import { isKnownHost } from '../http/known-host.ts';
import { LiveProfile, type ProfileSnapshot } from './live-profile.ts';
import { TraceTail } from './tail.ts';

const POLL_MS = 100;
const SEND_MS = 250;
const MAX_BACKLOG_BYTES = 256 * 1024;
const HOST = '127.0.0.1';

export interface ProfilerHandle {
  url: string;
  snapshot(): ProfileSnapshot;
  close(): Promise<void>;
}

/** Follows the newest trace in `where` (or one file) and keeps rolling figures, starting with its recent past. */
export function followTrace(
  where: string,
  backlogBytes?: number,
): { profile: LiveProfile; poll: () => number; close: () => void } {
  const profile = new LiveProfile();
  const tail = new TraceTail(
    where,
    {
      onFile: (file, header) => profile.begin(file, header?.playout ?? ''),
      onRecord: (record) => profile.add(record),
      onMotion: (motion) => profile.addMotion(motion),
    },
    backlogBytes,
  );
  return { profile, poll: () => tail.poll(), close: () => tail.close() };
}

/**
 * The profiler: a process beside operator and robot that reads their trace file and serves figures on loopback.
 * `GET /api/profile` returns one snapshot; the WebSocket `/live` sends four a second.
 */
export async function startProfiler(where: string, port: number): Promise<ProfilerHandle> {
  const { profile, poll, close } = followTrace(where);
  const guard = new ConnectionGuard();
  const http = createServer((request, response) => {
    if (!isKnownHost(request) || !isLocalOrigin(request)) return response.writeHead(403).end('Forbidden\n');
    if (request.method !== 'GET' || request.url !== '/api/profile')
      return response.writeHead(404).end('Not found\n');
    const { origin } = request.headers;
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', vary: 'origin' };
    response.writeHead(
      200,
      origin === undefined ? headers : { ...headers, 'access-control-allow-origin': origin },
    );
    return response.end(JSON.stringify(profile.snapshot()));
  });
  guard.watch(http);
  guard.watchRequests(http);
  await listen(http, port);
  const sockets = new WebSocketServer({
    server: http,
    path: '/live',
    maxPayload: 1024,
    verifyClient: ({ req }: { req: IncomingMessage }) => isKnownHost(req) && isLocalOrigin(req),
  });
  guard.watchSockets(sockets);
  sockets.on('connection', (socket) => socket.on('error', () => {}));
  const polling = setInterval(poll, POLL_MS);
  const sending = setInterval(() => {
    if (sockets.clients.size === 0) return;
    const text = JSON.stringify(profile.snapshot());
    for (const client of sockets.clients)
      if (client.readyState === WebSocket.OPEN && client.bufferedAmount < MAX_BACKLOG_BYTES)
        client.send(text);
  }, SEND_MS);
  poll();
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}/`,
    snapshot: () => profile.snapshot(),
    close: () =>
      new Promise((resolve) => {
        clearInterval(polling);
        clearInterval(sending);
        close();
        for (const client of sockets.clients) client.terminate();
        http.close(() => resolve());
        guard.close();
      }),
  };
}

/** Allows pages of this machine, on any port, and programs, which send no origin. */
function isLocalOrigin({ headers: { origin } }: IncomingMessage): boolean {
  return origin === undefined || /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin);
}

function listen(http: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === 'EADDRINUSE';
      const message = `the profiler cannot listen on ${HOST}:${port}: ${isTaken ? 'the port is in use' : cause.message}`;
      const hint = `Choose another port: --port ${port + 1}, or --port 0 for any free one.`;
      reject(new TeleopError(isTaken ? 'port-in-use' : 'socket-failed', message, { hint, cause }));
    });
    http.listen(port, HOST, resolve);
  });
}
