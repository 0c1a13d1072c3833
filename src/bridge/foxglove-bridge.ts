import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { openFrameReceiver } from '../camera/receiver.ts';
import { EntryBoundary } from '../core/entry-boundary.ts';
import { TeleopError } from '../core/errors.ts';
import { openTelemetryFeed } from '../desk/telemetry-feed.ts';
import { isKnownHost } from '../http/known-host.ts';
import { TOPICS } from '../record/schemas.ts';
import { cameraNames, frameReceiverConfig } from '../rig/camera-channel.ts';
import type { Rig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';
import { FoxgloveSession, MAX_MESSAGE_BYTES, SUBPROTOCOLS } from './foxglove-session.ts';
import { LiveTopics } from './live-topics.ts';

const HOST = '127.0.0.1';
const MAX_VIEWERS = 16;
/** A viewer that cannot keep up gets fewer messages, never a backlog. */
const MAX_BACKLOG_BYTES = 1024 * 1024;
/** Foxglove in a browser. Its desktop app and programs send no origin, or that of a file. */
const FOXGLOVE_ORIGINS = ['https://app.foxglove.dev', 'https://studio.foxglove.dev', 'file://'];

export interface FoxgloveBridge {
  url: string;
  counts(): { viewers: number; messages: number };
  close(): Promise<void>;
}

export interface FoxgloveOptions {
  port: number;
  /** Further web pages that may connect. */
  origins: readonly string[];
}

interface Viewer {
  session: FoxgloveSession;
  socket: WebSocket;
}

/**
 * Serves a running operator's telemetry and cameras to viewers on this machine, with the topics of its recordings. It
 * reads only: viewers cannot move or slow anything.
 */
export async function startFoxgloveBridge(rig: Rig, options: FoxgloveOptions): Promise<FoxgloveBridge> {
  const viewers = new Set<Viewer>();
  const cameras = cameraNames(rig);
  const boundary = new EntryBoundary('message from a viewer');
  let messages = 0;
  const live = new LiveTopics(
    rigModel(rig),
    cameras,
    (topic) => [...viewers].some(({ session }) => session.reads(topic)),
    (topic, timeNs, bytes) => {
      messages++;
      for (const { session } of viewers) session.publish(topic, timeNs, bytes);
    },
  );
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => SUBPROTOCOLS.find((name) => offered.has(name)) ?? false,
  });
  const sessionId = randomUUID();
  sockets.on('connection', (socket: WebSocket) => {
    const session = new FoxgloveSession(live.topics, outletOf(socket), (topic) => {
      const description = topic === TOPICS.description ? live.description() : null;
      if (description) session.publish(topic, wallNs(), description);
    });
    const viewer = { session, socket };
    viewers.add(viewer);
    socket.on('error', () => {});
    socket.on('close', () => viewers.delete(viewer));
    socket.on('message', (data, isBinary) =>
      boundary.run(
        () => session.receive(isBinary ? '' : String(data)),
        () => socket.close(1011, 'internal error'),
      ),
    );
    session.greet(`farhand ${rig.name}`, sessionId);
  });
  const http = createServer((_, response) => response.writeHead(426).end('This is a WebSocket.\n'));
  http.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const refusal = refusalOf(request, viewers.size, options.origins);
    if (refusal !== null) return void socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  });
  await listen(http, options.port);
  const feed = openTelemetryFeed(rig, (telemetry) => live.telemetry(telemetry, wallNs()));
  const receiver =
    cameras.length === 0
      ? null
      : await openFrameReceiver(frameReceiverConfig(rig), (frame) => live.picture(frame, wallNs()));
  return {
    url: `ws://localhost:${(http.address() as AddressInfo).port}`,
    counts: () => ({ viewers: viewers.size, messages }),
    close() {
      feed.close();
      receiver?.close();
      for (const { socket } of viewers) socket.terminate();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };
}

const wallNs = (): bigint => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));

const outletOf = (socket: WebSocket) => ({
  text: (message: string) => void (socket.readyState === WebSocket.OPEN && socket.send(message)),
  bytes(message: Uint8Array) {
    if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount < MAX_BACKLOG_BYTES)
      socket.send(message, { binary: true });
  },
});

/** Null: it may connect. */
function refusalOf(request: IncomingMessage, viewers: number, origins: readonly string[]): string | null {
  const { origin } = request.headers;
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/,\s*/);
  if (!isKnownHost(request)) return '403 Forbidden';
  if (origin !== undefined && ![...FOXGLOVE_ORIGINS, ...origins].includes(origin)) return '403 Forbidden';
  if (!offered.some((name) => SUBPROTOCOLS.includes(name))) return '400 Bad Request';
  return viewers >= MAX_VIEWERS ? '503 Service Unavailable' : null;
}

function listen(http: ReturnType<typeof createServer>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      reject(
        new TeleopError(
          isTaken ? 'port-in-use' : 'socket-failed',
          `the Foxglove bridge cannot listen on ${HOST}:${port}: ${isTaken ? 'the port is in use' : error.message}`,
          { hint: `Choose another: --port ${port + 1}`, cause: error },
        ),
      );
    });
    http.listen(port, HOST, resolve);
  });
}
