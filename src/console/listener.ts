import { X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createNetServer,
  isIP,
  isIPv4,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { networkInterfaces } from 'node:os';
import { TeleopError } from '../core/errors.ts';
import { hostPort } from '../core/ip-address.ts';
import { ConnectionGuard, type GuardOptions } from '../http/connection-guard.ts';
import { HandshakeQueue } from '../http/handshake-queue.ts';
import { isKnownHost } from '../http/known-host.ts';
import { requestUrl } from '../http/request-url.ts';
import { serveStatic } from '../http/static-files.ts';
import type { Rig } from '../rig/rig.ts';
import type { Access } from './access.ts';
import { type HostTls, openTls } from './ca.ts';

/** The first byte of every TLS connection. */
const HANDSHAKE = 0x16;

export interface Listener {
  /** To open on this machine. */
  url: string;
  /** Addresses for other machines, with the page that explains how to trust this one; null on loopback. */
  lan: { url: string; trustUrl: string; fingerprint: string } | null;
  guard: ConnectionGuard;
  close(): Promise<void>;
}

/**
 * Opens the console's only port. With `console.https` it serves TLS to every machine. Plain HTTP on the same
 * port serves the console to this machine's browser, and to others only the page that explains how to trust
 * the certificate. `http` handles all requests but does not listen itself.
 */
export async function openListener(
  http: Server,
  rig: Rig,
  access: Access,
  root: string,
  options: GuardOptions = {},
): Promise<Listener> {
  const identify = (request: IncomingMessage) => {
    const caller = access.identify(request);
    return caller && { id: caller.device, isOperator: caller.role === 'operator' };
  };
  const guard = new ConnectionGuard({ identify, ...options });
  return rig.console.https
    ? openSecureListener(http, rig, access, root, guard)
    : openLocalListener(http, rig, guard);
}

/** Throws unless the page is encrypted or stays on this machine. */
export function expectHttps({ console: { host, https } }: Rig): void {
  if (https || isLoopback(host)) return;
  throw new TeleopError(
    'not-loopback',
    `the console cannot listen on ${host} without HTTPS, only on loopback`,
    { hint: 'Add console.https=true, which creates its own certificate; `farhand console --lan` sets both.' },
  );
}

async function openLocalListener(http: Server, rig: Rig, guard: ConnectionGuard): Promise<Listener> {
  expectHttps(rig);
  const { host } = rig.console;
  guard.watch(http);
  guard.watchRequests(http);
  await listen(http, rig);
  const { port } = http.address() as AddressInfo;
  const name = host === '127.0.0.1' ? 'localhost' : host;
  return {
    url: `http://${hostPort(name, port)}/`,
    lan: null,
    guard,
    close: () => ended(http, guard),
  };
}

async function openSecureListener(
  http: Server,
  rig: Rig,
  access: Access,
  root: string,
  guard: ConnectionGuard,
): Promise<Listener> {
  const { host, trustLocal } = rig.console;
  const tls = openTls();
  const secure = createSecureServer({ cert: tls.cert, key: tls.key, handshakeTimeout: guard.limits.headMs });
  secure.on('request', (request, response) => answerSecure(http, tls, request, response));
  secure.on('upgrade', (...upgrade) => http.emit('upgrade', ...upgrade));
  const plain = openPlain(http, tls, access, root);
  guard.watchRequests(secure);
  guard.watchRequests(plain);
  const net = createNetServer();
  guard.watch(net);
  const answer = inTurn(secure);
  net.on('connection', (socket) => sniff(socket, answer, plain));
  await listen(net, rig);
  const { port } = net.address() as AddressInfo;
  const everywhere = host === '0.0.0.0' || host === '::';
  const seen = isIP(host) !== 0 && !everywhere ? host : lanAddress(host, tls.addresses, outsideAddresses());
  const url = `https://${hostPort(seen, port)}/`;
  const reachesSelf = everywhere || isLoopback(host);
  return {
    url: trustLocal && reachesSelf ? `http://localhost:${port}/` : url,
    lan: { url, trustUrl: `http://${hostPort(seen, port)}/`, fingerprint: tls.fingerprint },
    guard,
    close: () => ended(net, guard),
  };
}

/** Plain HTTP beside TLS: the console for this machine's browser, the trust page for all others. */
function openPlain(http: Server, tls: HostTls, access: Access, root: string): Server {
  const plain = createServer((request, response) => {
    if (!isKnownHost(request)) response.writeHead(403).end('Forbidden\n');
    else if (access.isLocal(request)) http.emit('request', request, response);
    else serveTrust(root, tls, request, response);
  });
  plain.on('upgrade', (request, socket: Socket, head) => {
    if (access.isLocal(request)) http.emit('upgrade', request, socket, head);
    else socket.destroy();
  });
  return plain;
}

export const isLoopback = (host: string): boolean => /^(127\.|::1$|localhost$)/.test(host);

/**
 * An address in the certificate; else any that other machines can reach, where browsers then show a warning.
 */
const outsideAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => address);

/** The address to print for a server on all addresses: in the certificate and IPv4 if possible; 0.0.0.0 has no IPv6. */
export function lanAddress(host: string, certified: readonly string[], own: readonly string[]): string {
  const candidates = [certified, own].flatMap((all) => [
    ...all.filter(isIPv4),
    ...(host !== '0.0.0.0' ? all.filter((address) => !isIPv4(address)) : []),
  ]);
  return candidates.find((address) => !/^(127\.|169\.254\.|fe80:|::1$)/.test(address)) ?? '127.0.0.1';
}

/** Passes connections to a TLS server no faster than it should answer them. */
function inTurn(secure: NetServer): (socket: Socket) => void {
  const queue = new HandshakeQueue<Socket>((socket) => secure.emit('connection', socket));
  let timer: NodeJS.Timeout | null = null;
  const run = () => {
    const waitMs = queue.run(performance.now());
    timer = waitMs === null ? null : setTimeout(run, Math.ceil(waitMs));
  };
  return (socket) => {
    queue.add(socket, socket.remoteAddress ?? '');
    if (timer === null) run();
  };
}

/** Looks at the first byte, puts it back, and passes the connection to the right server. */
function sniff(socket: Socket, answer: (socket: Socket) => void, plain: NetServer): void {
  socket.once('readable', () => {
    const first: Buffer | null = socket.read(1);
    if (first === null) return void socket.destroy();
    socket.unshift(first);
    if (first[0] === HANDSHAKE) answer(socket);
    else plain.emit('connection', socket);
  });
}

function answerSecure(http: Server, tls: HostTls, request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/farhand-ca.crt' && isKnownHost(request)) sendAuthority(tls, response);
  else http.emit('request', request, response);
}

/** Answers plain HTTP from another machine: only how to trust this one. */
function serveTrust(root: string, tls: HostTls, request: IncomingMessage, response: ServerResponse): void {
  const pathname = requestUrl(request)?.pathname ?? '';
  if (pathname === '/farhand-ca.crt') return sendAuthority(tls, response);
  if (pathname === '/authority.json') {
    const { subject, validTo } = new X509Certificate(tls.ca);
    const name = /CN=(.*)/.exec(subject)?.[1] ?? '';
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify({ name, validTo, fingerprint: tls.fingerprint }));
    return;
  }
  if (pathname.startsWith('/assets/') || pathname === '/theme.js')
    return serveStatic(root, request, response);
  request.url = '/trust.html';
  serveStatic(root, request, response);
}

function sendAuthority(tls: HostTls, response: ServerResponse): void {
  const { raw } = new X509Certificate(tls.ca);
  response.writeHead(200, {
    'content-type': 'application/x-x509-ca-cert',
    'content-disposition': 'attachment; filename="farhand-ca.crt"',
    'content-length': raw.length,
  });
  response.end(raw);
}

export function listen(server: NetServer, rig: Rig): Promise<void> {
  const { host, port } = rig.console;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const message = `the console cannot listen on ${hostPort(host, port)}: ${taken ? 'the port is in use' : error.message}`;
      const hint = taken
        ? `Choose another: console.port=${port + 1}`
        : 'Check console.host and console.port.';
      reject(new TeleopError(taken ? 'port-in-use' : 'socket-failed', message, { hint, cause: error }));
    });
    server.listen(port, host, resolve);
  });
}

function ended(listener: NetServer, guard: ConnectionGuard): Promise<void> {
  return new Promise((resolve) => {
    listener.close(() => resolve());
    guard.close();
  });
}
