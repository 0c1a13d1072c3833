import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { Access } from '../../console/access.ts';
import { AccessApi } from '../../console/access-api.ts';
import { DeviceSockets } from '../../console/device-sockets.ts';
import { type Listener, openListener } from '../../console/listener.ts';
import type { Pairing } from '../../console/pairing.ts';
import { socketRouter } from '../../console/route-sockets.ts';
import { monotonicClock } from '../../core/time/clock.ts';
import { isKnownHost } from '../../http/known-host.ts';
import { type Answering, answering, replyError, replyJson } from '../../http/replies.ts';
import { requestUrl } from '../../http/request-url.ts';
import { serveStatic, webRoot } from '../../http/static-files.ts';
import type { Rig } from '../../rig/rig.ts';
import { closedText, connectFleet, type FleetConnection } from '../connection.ts';
import { LeaseClient } from '../leases/lease-client.ts';
import { ROBOT_NAME } from '../subjects.ts';
import { FleetBoard } from './fleet-board.ts';
import { listenToFleet } from './listen.ts';
import { PageLeases } from './page-leases.ts';
import { FleetPages } from './pages.ts';
import { fleetRecordings } from './recordings-api.ts';
import { MAX_MESSAGE_BYTES } from './requests.ts';

const FORGOTTEN_MS = 1000;
const LEAVE_MS = 2000;

export interface FleetConsoleHandle {
  url: string;
  lan: Listener['lan'];
  pairing: Pairing;
  /** Resolves with the reason when the connection to the broker has ended. */
  ended: Promise<string>;
  close(): Promise<void>;
}

/**
 * The console of a fleet: the pages, with the access rules of every console, and one user's connection to the
 * broker. Every paired device acts as that user. It holds the pages' leases and carries their signalling,
 * never a command.
 */
export async function startFleetConsole(
  rig: Rig,
  access: { url: string; credentials: string },
): Promise<FleetConsoleHandle> {
  const root = webRoot();
  const connection = await connectFleet(access.url, access.credentials, rig.fleet);
  const nowMs = () => monotonicClock.nowNs() / 1e6;
  try {
    const leases: PageLeases = new PageLeases(new LeaseClient(connection), (page, robot, why) =>
      pages.sendTo(page, { kind: 'lease-over', robot, why }),
    );
    const board = new FleetBoard((robot) => leases.pageOf(robot));
    const stopListening = listenToFleet(connection, board, nowMs, (robot, token, isNewHolder) => {
      leases.announced(robot, token);
      if (isNewHolder) pages.sendChanges();
    });
    const { url: server, credentials } = access;
    const pages = new FleetPages({ connection, board, leases, server, credentials, nowMs });
    const served = await serve(rig, root, connection, board, pages).catch((error: unknown) => {
      stopListening();
      pages.close();
      throw error;
    });
    return {
      ...served,
      ended: connection.nats.closed().then(closedText),
      async close() {
        stopListening();
        pages.close();
        await Promise.race([leases.close(), later(LEAVE_MS)]);
        await served.close();
        if (connection.isConnected()) await connection.nats.flush().catch(() => {});
        await connection.close();
      },
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function serve(
  rig: Rig,
  root: string,
  connection: FleetConnection,
  board: FleetBoard,
  pages: FleetPages,
): Promise<Omit<FleetConsoleHandle, 'ended'>> {
  const access = new Access({
    trustLocal: rig.console.trustLocal,
    warn: (text) => console.error(`farhand: ${text}`),
  });
  const accessApi = new AccessApi(access, () => listener.lan, { fleet: { user: connection.user } });
  const http = createServer(
    answering('fleet console', (request, response) => {
      if (!isKnownHost(request)) return void response.writeHead(403).end('Forbidden\n');
      const answer =
        accessApi.handle(request, response) ?? answerApi(access, connection, board, request, response);
      return answer ?? serveStatic(root, request, response, access.pageHeaders(request));
    }),
  );
  const listener = await openListener(http, rig, access, root);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  const deviceSockets = new DeviceSockets(access);
  const timer = setInterval(() => deviceSockets.closeForgotten(), FORGOTTEN_MS);
  http.on('upgrade', socketRouter(access, listener.guard, { '/fleet': sockets }));
  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const caller = access.identify(request);
    if (caller === null) return socket.close(4001, 'forgotten');
    deviceSockets.add(socket, caller);
    pages.add(socket, caller);
  });
  return {
    url: listener.url,
    lan: listener.lan,
    pairing: accessApi.pairing,
    close() {
      clearInterval(timer);
      return listener.close();
    },
  };
}

/** Nothing here moves a robot or changes anything. */
function answerApi(
  access: Access,
  connection: FleetConnection,
  board: FleetBoard,
  request: IncomingMessage,
  response: ServerResponse,
): Answering {
  const url = requestUrl(request);
  if (!url?.pathname.startsWith('/api/')) return null;
  const answer = async () => {
    if (access.authorize(request) === null)
      return replyError(response, 403, 'this browser is not paired with this console');
    if (request.method !== 'GET' || url.pathname !== '/api/fleet/recordings')
      return replyError(response, 404, 'not found');
    const robot = url.searchParams.get('robot');
    if (robot !== null && !ROBOT_NAME.test(robot)) return replyError(response, 400, 'not a valid robot name');
    replyJson(response, 200, await fleetRecordings(connection, robot === null ? board.robots : [robot]));
  };
  return answer();
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
