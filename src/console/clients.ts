import { EntryBoundary } from '../core/entry-boundary.ts';
import { encodeEnvelope, XR_MAX_BYTES, xrAsksEstop, xrStamps } from '../input/codecs/webxr-codec.ts';
import type { LinkRequest, ReplayRequest } from '../messages/console.ts';
import type { AccessMessage, AccessRefusal, AccessState } from '../messages/console-access.ts';
import type { PulseEvent, PulseReport } from '../messages/pulse-event.ts';
import type { DeskRequest } from '../messages/telemetry.ts';
import { writeTag } from '../wire/codecs/frame.ts';
import type { Caller } from './access.ts';
import { DeviceSockets } from './device-sockets.ts';
import { HeadsetPath, type PathPeer } from './headset-path.ts';
import { Lease } from './lease.ts';
import { claimedKind, type PageRequest, parsePageRequest } from './page-requests.ts';

/** A page that cannot keep up gets no more probes. */
const MAX_BACKLOG_BYTES = 64 * 1024;
const TICK_MS = 250;
const REPEAT_REFUSAL_MS = 1000;

/**
 * Forwards a page's request to the operator, to the process that runs the emulated link of a demo, or to a replay.
 * `page` is the number of the page that sent it.
 */
export type Forward = (request: OperatorRequest | LinkRequest | ReplayRequest, page: number) => void;

/** A pulse has its own route: the console converts its stamp. */
type OperatorRequest = Exclude<DeskRequest, PulseReport>;

/** A page's connection: a WebSocket or something with the same interface. */
export interface PageSocket {
  readonly readyState: number;
  readonly OPEN: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code: number, reason: string): void;
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
}

export interface ClientsOptions {
  access: { stillKnown(caller: Caller): boolean };
  /** To the operator process: the console's own requests, and hand samples. */
  ask(request: OperatorRequest): void;
  /** A pulse that the page in control gave, for the trace. */
  pulse?(event: PulseEvent): void;
  hands(bytes: Uint8Array): void;
  nowNs(): number;
  /** Address for peer connections; empty for all. */
  rtcAddress: string;
  /** Reports, once, why peer connections are unavailable. */
  warn(text: string): void;
  /** Called when another page, or none, is in control; with the number of that page. */
  onHolder?(page: number | null): void;
  /** Called for every rejected message. */
  onRefused?(reason: AccessRefusal): void;
}

interface Client {
  /** Distinguishes its hand from those of other pages and of its earlier connections; never reused. */
  page: number;
  socket: PageSocket;
  caller: Caller;
  path: HeadsetPath;
  sent: string;
  refusedMs: number;
}

/**
 * The open pages: one of them at a time is in control, the others watch. Every message from a page passes
 * through here; only what its sender may request is forwarded to the operator. An e-stop always is.
 */
export class ConsoleClients {
  readonly lease = new Lease<Client>();
  readonly #options: ClientsOptions;
  readonly #clients = new Set<Client>();
  readonly #sockets: DeviceSockets;
  readonly #datagram = new Uint8Array(1472);
  readonly #timer: NodeJS.Timeout;
  readonly #boundary: EntryBoundary;
  /** The device that was in control last. */
  #lastDevice = '';
  #newestPage: number;
  #ticks = 0;
  #warned = false;

  constructor(options: ClientsOptions) {
    this.#options = options;
    // Above the numbers of an earlier console process.
    this.#newestPage = Math.floor(options.nowNs());
    this.#sockets = new DeviceSockets(options.access);
    this.#boundary = new EntryBoundary('message from a page', options.warn);
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Closes the socket when its device is forgotten. */
  guard(socket: PageSocket, caller: Caller): void {
    this.#sockets.add(socket, caller);
  }

  /**
   * A page connected. Its permitted requests go to `forward`. `peer` is its existing peer connection, if any,
   * whose messages arrive through `socket`.
   */
  add(socket: PageSocket, caller: Caller, forward: Forward, peer?: PathPeer): void {
    const path = new HeadsetPath({
      send: (message) => this.#send(client, message),
      message: (data) => this.#receive(client, data, forward),
      nowNs: this.#options.nowNs,
      rtcAddress: this.#options.rtcAddress,
      warn: (text) => this.#warnOnce(text),
      ...(peer === undefined ? {} : { peer }),
    });
    const page = ++this.#newestPage;
    const client: Client = { page, socket, caller, path, sent: '', refusedMs: Number.NEGATIVE_INFINITY };
    this.#clients.add(client);
    this.guard(socket, caller);
    socket.on('message', (data, isBinary) =>
      this.#receive(client, isBinary ? (data as Buffer) : String(data), forward),
    );
    socket.on('close', () => {
      this.#clients.delete(client);
      path.close();
      this.lease.release(client);
      this.#sendAll();
    });
    this.#sendAll();
    path.probe();
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { path } of this.#clients) path.close();
  }

  #warnOnce(text: string): void {
    if (!this.#warned) this.#options.warn(text);
    this.#warned = true;
  }

  #nowMs(): number {
    return this.#options.nowNs() / 1e6;
  }

  #receive(client: Client, data: string | Uint8Array, forward: Forward): void {
    this.#boundary.run(
      () => this.#take(client, data, forward),
      () => client.socket.close(1011, 'internal error'),
    );
  }

  #take(client: Client, data: string | Uint8Array, forward: Forward): void {
    const receivedNs = this.#options.nowNs();
    this.lease.received(client, receivedNs / 1e6);
    if (typeof data !== 'string') return this.#receiveHands(client, data);
    const request = parsePageRequest(data);
    const isViewer = client.caller.role === 'viewer';
    if (typeof request === 'string')
      return this.#refuse(client, claimedKind(data, request), isViewer ? 'viewer' : 'malformed');
    if (request.kind === 'control') return this.#control(client, request.action);
    if (client.path.receive(request, receivedNs)) return;
    if (request.kind === 'pulse') return this.#receivePulse(client, request);
    const refusal = this.#refusal(client, request);
    if (refusal !== null) this.#refuse(client, request.kind, refusal);
    else
      forward(request.kind === 'hand' ? stamped(request, client) : (request as OperatorRequest), client.page);
  }

  /** Null: permitted. The first action takes control if no page has it. */
  #refusal(client: Client, request: PageRequest): AccessRefusal | null {
    if (request.kind === 'estop' || (request.kind === 'replay' && request.action === 'stop')) return null;
    if (client.caller.role === 'viewer') return 'viewer';
    // A hand with an open clutch is no action: pages send their hand's pose all the time.
    const acts = request.kind !== 'hand' || request.clutch;
    if (!acts) return this.lease.holder === null || this.lease.holder === client ? null : 'not-in-control';
    return this.#claim(client, false) ? null : 'not-in-control';
  }

  #control(client: Client, action: 'claim' | 'take' | 'release'): void {
    if (client.caller.role === 'viewer') return this.#refuse(client, 'control', 'viewer');
    if (action === 'release') this.lease.release(client);
    else if (!this.#claim(client, action === 'take')) this.#refuse(client, 'control', 'not-in-control');
    this.#sendAll();
  }

  /**
   * When control passes to another device the robot holds: the new one never continues the old one's motion.
   */
  #claim(client: Client, takeOver: boolean): boolean {
    const { holder } = this.lease;
    if (!this.lease.claim(client, this.#nowMs(), takeOver)) return false;
    const { device } = client.caller;
    const handedOver = holder !== client && (holder !== null || ![device, ''].includes(this.#lastDevice));
    this.#lastDevice = device;
    if (handedOver) this.#options.ask({ kind: 'hold' });
    if (holder !== client) this.#sendAll();
    return true;
  }

  #receiveHands(client: Client, bytes: Uint8Array): void {
    const { length } = bytes;
    if (xrAsksEstop(bytes, length)) this.#options.ask({ kind: 'estop' });
    const stamps = length > XR_MAX_BYTES ? null : xrStamps(bytes, length);
    if (stamps === null) return this.#refuse(client, 'hands', 'malformed');
    if (client.caller.role === 'viewer') return this.#refuse(client, 'hands', 'viewer');
    if (this.lease.holder !== client) return this.#refuse(client, 'hands', 'not-in-control');
    const envelope = {
      takenNs: client.path.toOperatorNs(stamps.takenPageNs),
      sentNs: client.path.toOperatorNs(stamps.sentPageNs),
      stream: this.lease.term,
    };
    const at = encodeEnvelope(envelope, this.#datagram, writeTag('hands', this.#datagram));
    this.#datagram.set(bytes, at);
    this.#options.hands(this.#datagram.slice(0, at + length));
  }

  /** No action: a page that is not in control stays so, and nothing of it is traced. */
  #receivePulse(client: Client, { givenMs, ...pulse }: PulseReport): void {
    const givenNs = client.path.toOperatorNs(givenMs * 1e6);
    if (this.lease.holder !== client || !Number.isFinite(givenNs)) return;
    const pageUncertaintyNs = Math.round(client.path.uncertaintyNs);
    this.#options.pulse?.({ ...pulse, givenNs: Math.round(givenNs), pageUncertaintyNs });
  }

  /** Poses arrive all the time, so their rejection is reported at most once a second. */
  #refuse(client: Client, request: string, reason: AccessRefusal): void {
    this.#options.onRefused?.(reason);
    const nowMs = this.#nowMs();
    if (request === 'hand' || request === 'hands') {
      if (nowMs - client.refusedMs < REPEAT_REFUSAL_MS) return;
      client.refusedMs = nowMs;
    }
    this.#send(client, { kind: 'refused', request, reason });
  }

  #tick(): void {
    this.#ticks++;
    if (this.lease.expire(this.#nowMs())) this.#sendAll();
    for (const client of this.#clients) client.path.tick(this.#ticks);
    if (this.#ticks % 4 === 0) this.#sockets.closeForgotten();
  }

  #sendAll(): void {
    const { holder } = this.lease;
    this.#options.onHolder?.(holder?.page ?? null);
    for (const client of this.#clients) {
      const access: AccessState = {
        kind: 'access',
        role: client.caller.role,
        inControl: holder === client,
        holder: holder?.caller.name ?? null,
        pages: this.#clients.size,
      };
      const text = JSON.stringify(access);
      if (text !== client.sent) this.#send(client, access);
      client.sent = text;
    }
  }

  #send({ socket }: Client, message: AccessMessage): void {
    if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BACKLOG_BYTES)
      socket.send(JSON.stringify(message));
  }
}

type Hand = DeskRequest & { kind: 'hand' };

/**
 * Adds the page's number to its hand and, if the page's clock is known, the sample time on the operator's
 * clock.
 */
function stamped({ takenMs, ...hand }: Hand, { path, page }: Client): Hand {
  const takenNs = takenMs === undefined ? Number.NaN : path.toOperatorNs(takenMs * 1e6);
  return Number.isFinite(takenNs) ? { ...hand, page, takenNs: Math.round(takenNs) } : { ...hand, page };
}
