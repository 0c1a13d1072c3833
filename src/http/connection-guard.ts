import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer, Socket } from 'node:net';
import type { WebSocket, WebSocketServer } from 'ws';
import { type ConnectionLimits, ConnectionTable, type KnownDevice } from '../core/connection-table.ts';

/** Limits of a server that answers HTTP and WebSockets. */
export interface ServerLimits extends ConnectionLimits {
  /**
   * From the connection, or `idleMs` after the last answer, to the last byte of a request's head, TLS
   * included.
   */
  headMs: number;
  /** From there to the last byte of its body. */
  bodyMs: number;
  /** From there to the last byte of the answer; the doctor takes a minute. */
  answerMs: number;
  /** Between an answer and the next request. */
  idleMs: number;
  /** Interval of WebSocket pings; a socket that misses two is closed. */
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
  /** The authenticated device that sent this request; null: not authenticated. */
  identify?(request: IncomingMessage): KnownDevice | null;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;
const MISSED_PINGS = 2;
const SWEEPS_PER_LIMIT = 4;
const LONGEST_SWEEP_MS = 500;

interface Watched {
  socket: Socket;
  /** When it is closed, unless the awaited event arrives. */
  deadlineMs: number;
  request: { message: IncomingMessage; sinceMs: number } | null;
  page: { socket: WebSocket; pingMs: number; missed: number } | null;
  vouched: boolean;
}

/**
 * Watches every connection of a server, so that no client can block it: limits how many there are, and how
 * long each step may take. Deadlines are total: a slow trickle of bytes does not extend them. Used by all
 * servers.
 */
export class ConnectionGuard {
  readonly limits: ServerLimits;
  readonly #identify: (request: IncomingMessage) => KnownDevice | null;
  readonly #table: ConnectionTable<string>;
  readonly #watched = new Map<string, Watched>();
  readonly #timer: NodeJS.Timeout;
  /** Connections closed because they were too slow. */
  expired = 0;

  constructor({ limits, isLocal, identify }: GuardOptions = {}) {
    this.limits = { ...SERVER_LIMITS, ...limits };
    this.#identify = identify ?? (() => null);
    this.#table = new ConnectionTable(this.limits, isLocal ?? ((address) => LOOPBACK.test(address)));
    const { headMs, bodyMs, answerMs, idleMs, pingMs } = this.limits;
    const everyMs = Math.min(headMs, bodyMs, answerMs, idleMs, pingMs) / SWEEPS_PER_LIMIT;
    this.#timer = setInterval(() => this.#sweep(performance.now()), Math.min(LONGEST_SWEEP_MS, everyMs));
    this.#timer.unref();
  }

  get connections(): number {
    return this.#table.size;
  }

  /** Connections closed to make room for others. */
  get dropped(): number {
    return this.#table.dropped;
  }

  /** Watches every connection that `server` accepts. */
  watch(server: NetServer): void {
    // For example out of file descriptors: the connection is lost, the server continues.
    server.on('error', () => {});
    server.on('connection', (socket) => this.#add(socket));
  }

  /** Watches requests over watched connections, TLS or plain. */
  watchRequests(server: Server): void {
    const { headMs, bodyMs, idleMs } = this.limits;
    // Node's own timeouts cover bytes before a request is complete, but only on servers that listen
    // themselves.
    server.headersTimeout = headMs;
    server.requestTimeout = headMs + bodyMs;
    server.keepAliveTimeout = idleMs;
    server.prependListener('request', (request, response) => this.#onRequest(request, response));
    server.prependListener('upgrade', (request) => this.#onUpgrade(request));
  }

  /** Watches WebSockets over watched connections. */
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
    const device = watched.vouched ? null : this.#identify(request);
    if (device === null) return;
    watched.vouched = true;
    this.#end(this.#table.vouch(keyOf(watched.socket) ?? '', device));
  }

  #onRequest(message: IncomingMessage, response: ServerResponse): void {
    const watched = this.#of(message);
    if (watched === undefined) return;
    this.#vouch(message, watched);
    const request = { message, sinceMs: performance.now() };
    watched.request = request;
    watched.deadlineMs = request.sinceMs + this.limits.bodyMs;
    response.once('close', () => {
      // While its body is still arriving, its deadline stays in force.
      if (watched.request !== request || !message.complete) return;
      watched.request = null;
      watched.deadlineMs = performance.now() + this.limits.idleMs + this.limits.headMs;
    });
  }

  /** The deadline holds until the WebSocket opens, or until a rejected client has disconnected. */
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

/** The same key for a connection and the TLS socket around it; null: it is closed. */
const keyOf = ({ remoteAddress, remotePort }: Socket): string | null =>
  remoteAddress === undefined ? null : `${remoteAddress} ${remotePort}`;
