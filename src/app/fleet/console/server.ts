import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { monotonicClock } from '../../../core/clock.ts';
import { ROBOT_NAME } from '../../../fleet/subjects.ts';
import { Access, isKnownHost } from '../../console/access.ts';
import { AccessApi } from '../../console/access-api.ts';
import { type Door, openDoor } from '../../console/door.ts';
import { Guests } from '../../console/guests.ts';
import type { Pairing } from '../../console/pairing.ts';
import { replyError, replyFailure, replyJson } from '../../console/replies.ts';
import { requestUrl } from '../../console/request-url.ts';
import { routeSockets } from '../../console/route-sockets.ts';
import { serveStatic, webRoot } from '../../console/static-files.ts';
import type { Rig } from '../../rig.ts';
import { closedText, connectFleet, type FleetConnection } from '../connection.ts';
import { LeaseStore } from '../lease-store.ts';
import { FleetBoard } from './fleet-board.ts';
import { listenToFleet } from './listen.ts';
import { PageLeases } from './page-leases.ts';
import { FleetPages } from './pages.ts';
import { fleetRecordings } from './recordings-api.ts';

/** A session's description is the longest thing a page says. */
const MAX_MESSAGE_BYTES = 24 * 1024;
const FORGOTTEN_MS = 1000;
const LEAVE_MS = 2000;

export interface FleetConsoleHandle {
  url: string;
  lan: Door['lan'];
  pairing: Pairing;
  /** Resolves with the reason when the broker will not have it any more. */
  ended: Promise<string>;
  close(): Promise<void>;
}

/**
 * The console of a fleet: the pages, with the access rules of every console, and one user's connection to the broker.
 * Whoever is let in acts as that user. It holds pages' leases and carries their signalling, never a command.
 */
export async function startFleetConsole(
  rig: Rig,
  access: { url: string; credentials: string },
): Promise<FleetConsoleHandle> {
  const root = webRoot();
  const connection = await connectFleet(access.url, access.credentials, rig.fleet);
  const nowMs = () => monotonicClock.nowNs() / 1e6;
  try {
    const store = await LeaseStore.open(connection.nats);
    const leases: PageLeases = new PageLeases(connection, store, (page, robot, why) =>
      pages.tell(page, { kind: 'lease-over', robot, why }),
    );
    const board = new FleetBoard((robot) => leases.pageOf(robot));
    listenToFleet(connection, store, board, nowMs, () => pages.tellChanges());
    const { url: server, credentials } = access;
    const pages = new FleetPages({ connection, board, leases, server, credentials, nowMs });
    const served = await serve(rig, root, connection, board, pages).catch((error: unknown) => {
      pages.close();
      throw error;
    });
    return {
      ...served,
      ended: connection.nats.closed().then(closedText),
      async close() {
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
  const access = new Access({ trustLocal: rig.console.trustLocal });
  const accessApi = new AccessApi(access, () => door.lan, { fleet: { user: connection.user } });
  const http = createServer((request, response) => {
    if (!isKnownHost(request)) response.writeHead(403).end('Forbidden\n');
    else if (accessApi.handle(request, response)) return;
    else if (answerApi(access, connection, board, request, response)) return;
    else serveStatic(root, request, response, access.pageHeaders(request));
  });
  const door = await openDoor(http, rig, access, root);
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  const guests = new Guests(access);
  const timer = setInterval(() => guests.look(), FORGOTTEN_MS);
  routeSockets(http, access, { '/fleet': sockets });
  sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const caller = access.identify(request);
    if (caller === null) return socket.close(4001, 'forgotten');
    guests.add(socket, caller);
    pages.add(socket, caller);
  });
  return {
    url: door.url,
    lan: door.lan,
    pairing: accessApi.pairing,
    close() {
      clearInterval(timer);
      return door.close();
    },
  };
}

/** False: not a request for this. Nothing here moves a robot or changes anything. */
function answerApi(
  access: Access,
  connection: FleetConnection,
  board: FleetBoard,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const url = requestUrl(request);
  if (!url?.pathname.startsWith('/api/')) return false;
  if (access.authorize(request) === null) replyError(response, 403, 'this browser may not do that');
  else if (request.method !== 'GET' || url.pathname !== '/api/fleet/recordings')
    replyError(response, 404, 'there is no such thing');
  else {
    const robot = url.searchParams.get('robot');
    if (robot !== null && !ROBOT_NAME.test(robot)) replyError(response, 400, 'that is no robot’s name');
    else
      fleetRecordings(connection, robot === null ? board.robots : [robot]).then(
        (found) => replyJson(response, 200, found),
        (error: unknown) => replyFailure(response, error),
      );
  }
  return true;
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
