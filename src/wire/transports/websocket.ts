import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { EntryBoundary } from '../../core/entry-boundary.ts';
import { hostPort } from '../../core/ip-address.ts';
import { MAX_DATAGRAM_BYTES, peerOf } from '../reactor.ts';
import { type Carrier, type CarrierHandlers, type CarrierOptions, MAX_CARRIERS } from './carriers.ts';
import { socketError } from './socket-error.ts';

const RECONNECT_MS = 300;
/** Datagrams waiting behind more than this are better lost: about a fifth of a second of commands. */
const MAX_WAITING_BYTES = 8192;

/** One WebSocket per operator, with Nagle's delay off. Datagrams are sealed above this. */
export async function openWebSockets(
  options: CarrierOptions,
  handlers: CarrierHandlers,
): Promise<{ close(): void }> {
  const boundary = new EntryBoundary('link WebSocket');
  const use = (socket: WebSocket, peer: number) => {
    handlers.opened(peer, carrierOf(socket));
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) boundary.run(() => handlers.message(peer, data));
    });
    socket.on('close', () => handlers.closed(peer));
  };
  return options.role === 'robot'
    ? serveSockets(options, MAX_DATAGRAM_BYTES + 1, use)
    : connectSocket(options, MAX_DATAGRAM_BYTES + 1, use);
}

/** A robot's server on its command port. `use` gets every connection with the operator's address. */
export async function serveSockets(
  { host, ports }: CarrierOptions,
  maxPayload: number,
  use: (socket: WebSocket, peer: number) => void,
): Promise<{ close(): void }> {
  const server = new WebSocketServer({
    host,
    port: ports[0],
    maxPayload,
    perMessageDeflate: false,
    // Browsers name the page's origin: no page may command a robot by itself.
    verifyClient: ({ req }: { req: IncomingMessage }) =>
      req.headers.origin === undefined && server.clients.size < MAX_CARRIERS,
  });
  server.on('connection', (socket, { socket: { remoteAddress = '', remotePort = 0 } }) => {
    socket.on('error', () => {});
    use(socket, peerOf(remoteAddress, remotePort));
  });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw socketError(
      { name: 'command WebSocket', host, port: ports[0], portKey: 'link.commandPort' },
      code ?? message,
    );
  }
  return {
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

/** An operator's connection; when it is lost, the next attempt follows. */
export async function connectSocket(
  { host, ports }: CarrierOptions,
  maxPayload: number,
  use: (socket: WebSocket, peer: number) => void,
): Promise<{ close(): void }> {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let socket: WebSocket;
  const connect = () => {
    socket = new WebSocket(`ws://${hostPort(host, ports[0])}`, { perMessageDeflate: false, maxPayload });
    socket.on('error', () => {});
    socket.on('open', () => use(socket, 0));
    socket.on('close', () => {
      if (!isClosed) timer = setTimeout(connect, RECONNECT_MS);
    });
  };
  connect();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      socket.terminate();
    },
  };
}

const carrierOf = (socket: WebSocket): Carrier => ({
  send(message) {
    if (socket.readyState !== WebSocket.OPEN || socket.bufferedAmount > MAX_WAITING_BYTES) return false;
    socket.send(message, { binary: true });
    return true;
  },
  close: () => socket.terminate(),
});
