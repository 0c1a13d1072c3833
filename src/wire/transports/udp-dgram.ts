import { createSocket, type Socket } from 'node:dgram';
import { type Clock, monotonicClock } from '../../core/time/clock.ts';
import {
  type DatagramHandler,
  MAX_DATAGRAM_BYTES,
  type Peer,
  peerAddress,
  peerOf,
  peerPort,
  type Reactor,
  type SocketSpec,
} from '../reactor.ts';
import { checkHost, socketError } from './socket-error.ts';
import { socketType } from './socket-type.ts';

/**
 * Node's own sockets and timers: work everywhere, without kernel stamps, DSCP or sub-millisecond deadlines.
 */
export async function openDgramReactor(
  specs: readonly SocketSpec[],
  stopFlag: Int32Array = new Int32Array(new SharedArrayBuffer(4)),
  clock: Clock = monotonicClock,
): Promise<Reactor> {
  const sockets: Socket[] = [];
  try {
    for (const spec of specs) {
      checkHost(spec);
      sockets.push(await bound(spec));
    }
  } catch (error) {
    for (const socket of sockets) socket.close();
    throw error;
  }
  return new DgramReactor(sockets, stopFlag, clock);
}

function bound(spec: SocketSpec): Promise<Socket> {
  const socket = createSocket({ type: socketType(spec.host), recvBufferSize: 1 << 20 });
  return new Promise((resolve, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      reject(socketError(spec, error.code ?? error.message));
    });
    socket.bind({ address: spec.host, port: spec.port, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

const STOP_POLL_MS = 50;

/** Empty if this socket cannot reach the peer. */
function addressFor(socket: Socket, to: Peer): string {
  const address = peerAddress(to);
  const isSix = address.includes(':');
  if (socket.address().family !== 'IPv6') return isSix ? '' : address;
  return isSix || address === '' ? address : `::ffff:${address}`;
}

class DgramReactor implements Reactor {
  readonly kind = 'dgram';
  readonly stampSource = 'userspace';
  readonly scheduling = 'normal';
  readonly #sockets: Socket[];
  readonly #stop: Int32Array;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #stopped: () => void = () => {};

  constructor(sockets: Socket[], stop: Int32Array, clock: Clock) {
    this.#sockets = sockets;
    this.#stop = stop;
    this.#clock = clock;
  }

  localPort(socket: number): number {
    return this.#sockets[socket]?.address().port ?? 0;
  }

  send(socket: number, bytes: Uint8Array, length: number, to: Peer): number {
    // A forged datagram can come from port 0; answering it must not throw.
    const open = this.#sockets[socket];
    const address = peerPort(to) === 0 || open === undefined ? '' : addressFor(open, to);
    if (address === '') return 0;
    const sentNs = this.#clock.nowNs();
    // dgram keeps the bytes until they are sent, so it gets its own copy.
    open!.send(bytes.slice(0, length), peerPort(to), address, () => {});
    return sentNs;
  }

  run(handler: DatagramHandler): Promise<void> {
    this.#sockets.forEach((socket, index) => {
      socket.on('message', (bytes, from) => {
        if (bytes.length > MAX_DATAGRAM_BYTES) return handler.onOversize(index);
        const peer = peerOf(from.address, from.port);
        handler.onDatagram(index, bytes, bytes.length, peer, this.#clock.nowNs(), Number.NaN);
        this.#arm(handler);
      });
      socket.on('error', () => {});
    });
    return new Promise((resolve) => {
      this.#stopped = resolve;
      this.#arm(handler);
    });
  }

  /** Runs due deadlines and sets the timer for the next; a datagram may have brought it forward. */
  #arm(handler: DatagramHandler): void {
    clearTimeout(this.#timer);
    if (Atomics.load(this.#stop, 0) !== 0) return this.#stopped();
    const nowNs = this.#clock.nowNs();
    if (nowNs >= handler.nextDeadlineNs()) handler.onDeadline(nowNs);
    const waitMs = (handler.nextDeadlineNs() - this.#clock.nowNs()) / 1e6;
    this.#timer = setTimeout(() => this.#arm(handler), Math.min(STOP_POLL_MS, Math.max(0, waitMs)));
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  close(): void {
    for (const socket of this.#sockets.splice(0)) socket.close();
  }
}
