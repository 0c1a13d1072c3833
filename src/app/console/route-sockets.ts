import type { Server } from 'node:http';
import type { WebSocketServer } from 'ws';
import type { Access } from './access.ts';
import { requestUrl } from './request-url.ts';

/** Each path has its own sockets; strangers are turned away before any of them sees the request. */
export function routeSockets(http: Server, access: Access, paths: Record<string, WebSocketServer>): void {
  http.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    const pathname = requestUrl(request)?.pathname ?? '';
    const server = Object.hasOwn(paths, pathname) ? paths[pathname] : undefined;
    if (access.authorize(request) === null)
      socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
    else if (server === undefined) socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
    else server.handleUpgrade(request, socket, head, (client) => server.emit('connection', client, request));
  });
}
