import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { EntryBoundary } from '../core/entry-boundary.ts';
import type { ConnectionGuard } from '../http/connection-guard.ts';
import { requestUrl } from '../http/request-url.ts';
import type { Access } from './access.ts';

/**
 * Routes upgrades: each path has its own socket server; unauthorized requests are rejected before they reach
 * one.
 */
export function socketRouter(
  access: Access,
  guard: ConnectionGuard,
  paths: Record<string, WebSocketServer>,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const boundary = new EntryBoundary('WebSocket');
  for (const server of Object.values(paths)) guard.watchSockets(server);
  const route = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const pathname = requestUrl(request)?.pathname ?? '';
    const server = Object.hasOwn(paths, pathname) ? paths[pathname] : undefined;
    if (access.authorize(request) === null) return refuse(socket, '401 Unauthorized');
    if (!server?.shouldHandle(request)) return refuse(socket, '404 Not Found');
    server.handleUpgrade(request, socket, head, (client) => server.emit('connection', client, request));
  };
  return (request, socket, head) => {
    socket.on('error', () => {});
    boundary.run(
      () => route(request, socket, head),
      () => socket.destroy(),
    );
  };
}

const refuse = (socket: Duplex, status: string): void =>
  void socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`, () => socket.destroy());
