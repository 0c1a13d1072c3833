import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { EntryBoundary } from '../../src/core/entry-boundary.ts';
import { TeleopError } from '../../src/core/errors.ts';
import { parseJson } from '../../src/core/parse-json.ts';
import { packageRoot } from '../../src/files/package-root.ts';
import { ConnectionGuard } from '../../src/http/connection-guard.ts';
import { isKnownHost, isOwnOrigin } from '../../src/http/known-host.ts';
import { serveStatic } from '../../src/http/static-files.ts';
import type { BentoPageRequest } from './bento-view.ts';
import type { BentoSimulation } from './simulation.ts';

const POSES_MS = 20;
const STATUS_EVERY = 10;
const MAX_REQUEST_BYTES = 512;
/** A slow page gets fewer frames, never a backlog. */
const MAX_BACKLOG_BYTES = 64 * 1024;
const PAGE = '/bento.html';

const boundary = new EntryBoundary('page of the arm');
const request: z.ZodType<BentoPageRequest, unknown> = z.union([
  z.strictObject({ kind: z.literal('scene'), index: z.int().min(0).max(255) }),
  z.strictObject({
    kind: z.literal('control'),
    states: z.array(z.int().min(0).max(2)).length(5),
    speeds: z.array(z.int().min(0).max(1023)).length(5),
  }),
]);

export interface PageServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The virtual arm's page, on loopback only: shows the scene, and sends control packets from its keys. */
export async function servePage(
  port: number,
  simulation: BentoSimulation,
  nowNs: () => number,
  ask: (request: BentoPageRequest) => void,
): Promise<PageServer> {
  const root = path.join(packageRoot, 'dist', 'web');
  if (!existsSync(path.join(root, PAGE)))
    throw new TeleopError('build-missing', 'the arm’s page has not been built', {
      hint: 'Run `npm run build`.',
    });
  const http = createServer((asked, response) => {
    if (!isKnownHost(asked)) response.writeHead(403).end('Forbidden\n');
    else if (asked.url === '/') response.writeHead(302, { location: PAGE }).end();
    else serveStatic(root, asked, response);
  });
  const guard = new ConnectionGuard();
  guard.watch(http);
  guard.watchRequests(http);
  await listen(http, port);
  const sockets = new WebSocketServer({
    server: http,
    path: '/bento-ws',
    maxPayload: MAX_REQUEST_BYTES,
    verifyClient: ({ req }: { req: IncomingMessage }) => isKnownHost(req) && isOwnOrigin(req),
  });
  guard.watchSockets(sockets);
  const send = (message: unknown) => {
    const text = JSON.stringify(message);
    for (const client of sockets.clients) if (client.readyState === WebSocket.OPEN) client.send(text);
  };
  sockets.on('connection', (socket) => welcome(socket, simulation, ask));
  simulation.onScene = () => send(simulation.sceneMessage());
  let sent = 0;
  const timer = setInterval(() => {
    if (sockets.clients.size === 0) return;
    const poses = Buffer.from(simulation.poses().slice().buffer);
    for (const client of sockets.clients)
      if (client.readyState === WebSocket.OPEN && client.bufferedAmount < MAX_BACKLOG_BYTES)
        client.send(poses);
    if (sent++ % STATUS_EVERY === 0) send(simulation.status(nowNs()));
  }, POSES_MS);
  return {
    url: `http://localhost:${(http.address() as AddressInfo).port}${PAGE}`,
    close: () =>
      new Promise((resolve) => {
        clearInterval(timer);
        for (const client of sockets.clients) client.terminate();
        http.close(() => resolve());
        guard.close();
      }),
  };
}

function welcome(
  socket: WebSocket,
  simulation: BentoSimulation,
  ask: (request: BentoPageRequest) => void,
): void {
  let drives = false;
  socket.on('error', () => {});
  socket.send(JSON.stringify(simulation.sceneMessage()));
  socket.on('message', (data) => {
    const taken = parseJson(String(data), request, MAX_REQUEST_BYTES);
    if (typeof taken === 'string') return;
    drives ||= taken.kind === 'control';
    boundary.run(
      () => ask(taken),
      () => socket.close(1011, 'internal error'),
    );
  });
  // A page that closes with a key down releases it.
  socket.on('close', () => {
    if (drives) ask({ kind: 'control', states: [0, 0, 0, 0, 0], speeds: [0, 0, 0, 0, 0] });
  });
}

function listen(http: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const what = taken ? 'the port is in use' : error.message;
      const options = { hint: `Choose another: --page ${port + 1}`, cause: error };
      const message = `cannot serve the page on port ${port}: ${what}`;
      reject(new TeleopError(taken ? 'port-in-use' : 'socket-failed', message, options));
    });
    http.listen(port, '127.0.0.1', resolve);
  });
}
