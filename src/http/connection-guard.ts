import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { WebSocket, WebSocketServer } from 'ws';
import { type ConnectionLimits, ConnectionTable } from '../core/connection-table.ts';

/** Limits of a server that answers HTTP and WebSockets. */
export interface ServerLimits extends ConnectionLimits {
  /** From the connection, or the end of the last answer and `idleMs`, to the last byte of a request's head, TLS included. */
  headMs: number;
  /** From there to the last byte of its body. */
  bodyMs: number;
  /** From there to the last byte of the answer; the doctor takes a minute. */
  answerMs: number;
  /** Between an answer and the next request. */
  idleMs: number;
  /** A WebSocket is asked for a sign of life so often, and ends when it missed two. */
  pingMs: number;
}

const SERVER_LIMITS: Readonly<ServerLimits> = {
  ...{ local: 128, known: 128, strangers: 128, perAddress: 32 },
  ...{ headMs: 10_000, bodyMs: 15_000, answerMs: 120_000, idleMs: 5_000, pingMs: 10_000 },
};

export interface GuardOptions {
  limits?: Partial<ServerLimits>;
  /** Whether an address is this machine's own. */
  isLocal?(address: string): boolean;
  /** Whether who sends this request proves who it is. */
  isKnown?(request: IncomingMessage): boolean;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const MISSED_PINGS = 2;
const SWEEPS_PER_LIMIT = 4;
const LONGEST_SWEEP_MS = 500;

interface Watched {
  socket: Socket;
  /** When it ends, unless what it waits for happens. */
  deadlineMs: number;
  request: { message: IncomingMessage; sinceMs: number } | null;
  page: { socket: WebSocket; pingMs: number; missed: number } | null;
  vouched: boolean;
}

/**
 * Watches every connection of a server, so that nobody can block it: how many there are, and how long each takes for
 * what it is at. Deadlines are total; a byte now and then does not extend them. Used by all servers.
 */
export class ConnectionGuard {
  readonly limits: ServerLimits;
  readonly #isKnown: (request: IncomingMessage) => boolean;
  readonly #table: ConnectionTable<string>;
  readonly #watched = new Map<string, Watched>();
  readonly #timer: NodeJS.Timeout;
  /** Connections that were too slow. */
  expired = 0;

  constructor({ limits, isLocal, isKnown }: GuardOptions = {}) {
    this.limits = { ...SERVER_LIMITS, ...limits };
    this.#isKnown = isKnown ?? (() => false);
    this.#table = new ConnectionTable(this.limits, isLocal ?? ((address) => LOOPBACK.test(address)));
    const { headMs, bodyMs, answerMs, idleMs, pingMs } = this.limits;
    const everyMs = Math.min(headMs, bodyMs, answerMs, idleMs, pingMs) / SWEEPS_PER_LIMIT;
    this.#timer = setInterval(() => this.#sweep(performance.now()), Math.min(LONGEST_SWEEP_MS, everyMs));
    this.#timer.unref();
  }

  get connections(): number {
    return this.#table.size;
  }

  /** Connections that had to make room. */
  get dropped(): number {
    return this.#table.dropped;
  }

  /** Every connection that `server` accepts. */
  watch(server: NetServer): void {
    // Out of file descriptors, say: that connection is lost, the server is not.
    server.on('error', () => {});
    server.on('connection', (socket) => this.#add(socket));
  }

  /** Requests over watched connections, by TLS or not. */
  watchRequests(server: Server): void {
    const { headMs, bodyMs, idleMs } = this.limits;
    // Node's own, which see what is below a request; they work only on servers that listen themselves.
    server.headersTimeout = headMs;
    server.requestTimeout = headMs + bodyMs;
    server.keepAliveTimeout = idleMs;
    server.prependListener('request', (request, response) => this.#onRequest(request, response));
    server.prependListener('upgrade', (request) => this.#onUpgrade(request));
  }

  /** WebSockets over watched connections. */
  watchSockets(sockets: WebSocketServer): void {
    sockets.on('connection', (socket: WebSocket, request: IncomingMessage) => {
      const watched = this.#of(request);
      if (watched === undefined) return socket.terminate();
      const page = { socket, pingMs: performance.now() + this.limits.pingMs, missed: 0 };
      watched.page = page;
      watched.deadlineMs = Number.POSITIVE_INFINITY;
      socket.on('pong', () => {
        page.missed = 0;
      });
    });
  }

  /** Ends every connection. */
  close(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.#watched.values()) socket.destroy();
  }

  #add(socket: Socket): void {
    const key = keyOf(socket);
    if (key === null) return void socket.destroy();
    const deadlineMs = performance.now() + this.limits.headMs;
    this.#watched.set(key, { socket, deadlineMs, request: null, page: null, vouched: false });
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      if (this.#watched.get(key)?.socket !== socket) return;
      this.#watched.delete(key);
      this.#table.delete(key);
    });
    this.#end(this.#table.add(key, socket.remoteAddress ?? ''));
  }

  #end(key: string | null): void {
    if (key !== null) this.#watched.get(key)?.socket.destroy();
  }

  #of({ socket }: IncomingMessage): Watched | undefined {
    return this.#watched.get(keyOf(socket) ?? '');
  }

  #vouch(request: IncomingMessage, watched: Watched): void {
    if (watched.vouched || !this.#isKnown(request)) return;
    watched.vouched = true;
    this.#end(this.#table.vouch(keyOf(watched.socket) ?? ''));
  }

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    const watched = this.#of(message);
    if (watched === undefined) return;
    this.#vouch(message, watched);
    const request = { message, sinceMs: performance.now() };
    watched.request = request;
    watched.deadlineMs = request.sinceMs + this.limits.bodyMs;
    response.once('close', () => {
      // One whose body is still coming goes on running against its deadline.
      if (watched.request !== request || !message.complete) return;
      watched.request = null;
      watched.deadlineMs = performance.now() + this.limits.idleMs + this.limits.headMs;
    });
  }

  /** Until there is a WebSocket; whoever is refused has as long to go. */
  #onUpgrade(request: IncomingMessage): void {
    const watched = this.#of(request);
    if (watched === undefined) return;
    this.#vouch(request, watched);
    watched.request = null;
    watched.deadlineMs = performance.now() + this.limits.headMs;
  }

  #sweep(nowMs: number): void {
    for (const watched of this.#watched.values()) {
      if (watched.page !== null) this.#ping(watched.page, nowMs);
      if (nowMs < watched.deadlineMs) continue;
      const { request, socket } = watched;
      const answerMs = (request?.sinceMs ?? 0) + this.limits.answerMs;
      if (request?.message.complete && nowMs < answerMs) watched.deadlineMs = answerMs;
      else {
        this.expired++;
        socket.destroy();
      }
    }
  }

  #ping(page: NonNullable<Watched['page']>, nowMs: number): void {
    if (nowMs < page.pingMs) return;
    page.pingMs = nowMs + this.limits.pingMs;
    if (++page.missed > MISSED_PINGS) {
      this.expired++;
      page.socket.terminate();
    } else if (page.socket.readyState === page.socket.OPEN) page.socket.ping();
  }
}

/** The same for a connection and what is wrapped around it, TLS; null: it is gone. */
const keyOf = ({ remoteAddress, remotePort }: Socket): string | null =>
  remoteAddress === undefined ? null : `${remoteAddress} ${remotePort}`;
