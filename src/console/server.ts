import { createServer, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { monotonicClock } from '../core/time/clock.ts';
import { openOperatorLink } from '../desk/operator-link.ts';
import type { GuardOptions } from '../http/connection-guard.ts';
import { isKnownHost } from '../http/known-host.ts';
import { answering } from '../http/replies.ts';
import { serveStatic, webRoot } from '../http/static-files.ts';
import type { ConsoleHello, DemoLink, DeviceReport, LinkEvent, NearbyRobot } from '../messages/console.ts';
import { armRigs } from '../rig/arms.ts';
import type { Rig } from '../rig/rig.ts';
import { rigModel } from '../rig/robot-models.ts';
import { Access } from './access.ts';
import { AccessApi } from './access-api.ts';
import { createApi } from './api.ts';
import { CameraViews } from './camera-views.ts';
import { ConsoleClients } from './clients.ts';
import { helloOf } from './hello.ts';
import { isLoopback, type Listener, openListener } from './listener.ts';
import { consoleMesh } from './meshes-api.ts';
import { MAX_MESSAGE_BYTES } from './page-requests.ts';
import type { Pairing } from './pairing.ts';
import { ReplayRunner } from './replay-run.ts';
import { socketRouter } from './route-sockets.ts';

/** A page that cannot keep up gets fewer messages, never a backlog. */
const MAX_BACKLOG_BYTES = 256 * 1024;
export interface ConsoleOptions {
  /** The rig's devices; a function, because only the app loads plug-ins. */
  devices: () => Promise<DeviceReport>;
  /** Robots that announce themselves on the local network. */
  robots: () => Promise<NearbyRobot[]>;
  /** Asks the process that runs the emulated link of a demo to change it; absent without one. */
  askLink?: (profile: string) => void;
  /** Options and settings with which a verb finds the same rig; without them nothing can be replayed. */
  rigArgs?: readonly string[];
  guard?: GuardOptions;
}

export interface ConsoleHandle {
  url: string;
  lan: Listener['lan'];
  pairing: Pairing;
  /** Sends a change of the emulated link to all pages. */
  sendLink(link: DemoLink): void;
  close(): Promise<void>;
}

/** The console process: the page, its WebSocket, and datagrams to and from the operator process. */
export async function startConsole(
  rig: Rig,
  { devices, robots, askLink, rigArgs, guard = {} }: ConsoleOptions,
): Promise<ConsoleHandle> {
  const root = webRoot();
  const arms = armRigs(rig).map((arm) => ({ ...arm, model: rigModel(arm.rig) }));
  const access = new Access({
    trustLocal: rig.console.trustLocal,
    warn: (text) => console.error(`farhand: ${text}`),
  });
  const accessApi = new AccessApi(access, () => listener.lan);
  const api = createApi(rig, access, { devices, robots }, (job) =>
    sendAll(JSON.stringify({ kind: 'export', job })),
  );
  const replays = new ReplayRunner(rigArgs ?? null, rig.record.dir, (job) =>
    sendAll(JSON.stringify({ kind: 'replay', job })),
  );
  const operator = openOperatorLink(rig.console);
  const cameras = await CameraViews.open(
    rig,
    (reason) => console.error(`farhand: ${reason}`),
    (event) => operator.video(event),
  );
  const meshes = api.meshes.map(consoleMesh);
  const desk: Desk = { hello: helloOf(rig, arms, cameras.names, meshes), link: null };
  const http = createServer(
    answering('console', (request, response) => {
      if (!isKnownHost(request)) return void response.writeHead(403).end('Forbidden\n');
      const answer = accessApi.handle(request, response) ?? api.handle(request, response);
      return answer ?? serveStatic(root, request, response, access.pageHeaders(request));
    }),
  );
  const listener = await openListener(http, rig, access, root, guard).catch((error: unknown) => {
    // What is already open would keep the process alive.
    operator.close();
    cameras.close();
    api.close();
    throw error;
  });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  http.on('upgrade', socketRouter(access, listener.guard, { '/ws': sockets, '/camera': cameras.sockets }));
  const clients = new ConsoleClients({
    access,
    ask: (request) => operator.forward(request),
    hands: (bytes) => operator.hands(bytes),
    pulse: (event) => operator.pulse(event),
    nowNs: monotonicClock.nowNs,
    rtcAddress: rtcAddressOf(rig.console.host),
    warn: (text) => console.error(`farhand: ${text}`),
    onHolder: (page) => replays.controlledBy(page),
  });
  sockets.on('connection', (socket, request: IncomingMessage) => {
    socket.on('error', () => {});
    const caller = access.identify(request);
    if (caller === null) return socket.close(4001, 'forgotten');
    socket.send(JSON.stringify(desk.hello));
    if (desk.link !== null) socket.send(JSON.stringify(desk.link));
    if (replays.job.state === 'running') socket.send(JSON.stringify({ kind: 'replay', job: replays.job }));
    clients.add(socket, caller, (request, page) => {
      if (request.kind === 'link') askLink?.(request.profile);
      else if (request.kind === 'replay') replays.take(request, page);
      else operator.forward(request);
    });
  });
  cameras.sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
    const caller = access.identify(request);
    if (caller === null) socket.close(4001, 'forgotten');
    else clients.guard(socket, caller);
  });
  const sendAll = (text: string) => {
    for (const client of sockets.clients) if (client.readyState === WebSocket.OPEN) client.send(text);
  };
  operator.onTelemetry((text) => {
    for (const client of sockets.clients)
      if (client.readyState === WebSocket.OPEN && client.bufferedAmount < MAX_BACKLOG_BYTES)
        client.send(text);
  });
  return {
    url: listener.url,
    lan: listener.lan,
    pairing: accessApi.pairing,
    sendLink(link) {
      desk.link = { kind: 'link', link };
      sendAll(JSON.stringify(desk.link));
    },
    close() {
      clients.close();
      replays.close();
      operator.close();
      cameras.close();
      api.close();
      for (const client of sockets.clients) client.terminate();
      return listener.close();
    },
  };
}

/** Where data channels listen; empty: on every address. */
function rtcAddressOf(host: string): string {
  if (isLoopback(host)) return '127.0.0.1';
  return isIP(host) === 0 || /^(0\.0\.0\.0|::)$/.test(host) ? '' : host;
}

interface Desk {
  hello: ConsoleHello;
  link: LinkEvent | null;
}
