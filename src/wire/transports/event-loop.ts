import { createSocket, type Socket } from 'node:dgram';
import type { Clock } from '../../core/time/clock.ts';
import { type DatagramHandler, MAX_DATAGRAM_BYTES, type Peer, peerOf, type SocketSpec } from '../reactor.ts';
import { socketError } from './socket-error.ts';
import { socketType } from './socket-type.ts';

/** The event loop's timers are coarse: it wakes early and spins the rest through `setImmediate`. */
const SPIN_MS = 1.5;
const STOP_POLL_MS = 50;

/** A role's deadlines and local UDP sockets on Node's event loop, for transports whose library needs that loop. */
export class EventLoop {
  readonly #stop: Int32Array;
  readonly #clock: Clock;
  readonly #local: Socket[];
  /** Number of the first local socket. */
  readonly #firstLocal: number;
  #handler: DatagramHandler | null = null;
  #timer: NodeJS.Timeout | undefined;
  #spinning = false;
  #stopped: () => void = () => {};

  constructor(clock: Clock, stop: Int32Array, local: Socket[], firstLocal: number) {
    this.#clock = clock;
    this.#stop = stop;
    this.#local = local;
    this.#firstLocal = firstLocal;
  }

  localPort(socket: number): number {
    return this.#local[socket - this.#firstLocal]?.address().port ?? 0;
  }

  run(handler: DatagramHandler): Promise<void> {
    this.#handler = handler;
    this.#local.forEach((socket, i) => {
      socket.on('message', (bytes, { address, port }) =>
        this.deliver(this.#firstLocal + i, bytes, peerOf(address, port)),
      );
    });
    return new Promise((resolve) => {
      this.#stopped = resolve;
      this.#arm(handler);
    });
  }

  /** Ignored until `run`. */
  deliver(socket: number, bytes: Uint8Array, from: Peer): void {
    const handler = this.#handler;
    if (handler === null) return;
    if (bytes.length > MAX_DATAGRAM_BYTES) return handler.onOversize(socket);
    handler.onDatagram(socket, bytes, bytes.length, from, this.#clock.nowNs(), Number.NaN);
    this.#arm(handler);
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  close(): void {
    for (const socket of this.#local.splice(0)) socket.close();
  }

  #arm(handler: DatagramHandler): void {
    if (this.#spinning) return;
    clearTimeout(this.#timer);
    if (Atomics.load(this.#stop, 0) !== 0) return this.#stopped();
    const nowNs = this.#clock.nowNs();
    if (nowNs >= handler.nextDeadlineNs()) handler.onDeadline(nowNs);
    const waitMs = (handler.nextDeadlineNs() - this.#clock.nowNs()) / 1e6;
    if (waitMs <= SPIN_MS) this.#spin(handler);
    else this.#timer = setTimeout(() => this.#arm(handler), Math.min(STOP_POLL_MS, waitMs - SPIN_MS));
  }

  #spin(handler: DatagramHandler): void {
    this.#spinning = true;
    setImmediate(() => {
      this.#spinning = false;
      if (this.#clock.nowNs() >= handler.nextDeadlineNs()) this.#arm(handler);
      else this.#spin(handler);
    });
  }
}

/** Opens all or none. */
export async function openLocalSockets(specs: readonly SocketSpec[]): Promise<Socket[]> {
  const open: Socket[] = [];
  try {
    for (const spec of specs) open.push(await openLocal(spec));
    return open;
  } catch (error) {
    for (const socket of open) socket.close();
    throw error;
  }
}

function openLocal(spec: SocketSpec): Promise<Socket> {
  const socket = createSocket(socketType(spec.host));
  return new Promise((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      reject(socketError(spec, error.code ?? error.message));
    });
    socket.bind({ address: spec.host, port: spec.port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}
