import { type Clock, monotonicClock } from '../../core/time/clock.ts';
import {
  type DatagramHandler,
  MAX_DATAGRAM_BYTES,
  type Peer,
  peerOf,
  type Reactor,
  type SocketSpec,
} from '../reactor.ts';
import { EventLoop, openLocalSockets } from './event-loop.ts';

/** A connection that carries messages: one byte, the channel's number, then the datagram. */
export interface Carrier {
  /** Keeps the bytes. False: not sent. */
  send(message: Uint8Array): boolean;
  close(): void;
}

export interface CarrierHandlers {
  /** `peer`: of a robot, the operator at the other end. */
  opened(peer: Peer, carrier: Carrier): void;
  message(peer: Peer, bytes: Uint8Array): void;
  closed(peer: Peer): void;
}

export interface CarrierOptions {
  role: 'operator' | 'robot';
  /** Robot: where it listens. Operator: the robot's address. */
  host: string;
  /** Command, state, sync; connections are made to the first, over TCP. */
  ports: readonly [number, number, number];
  /** Local UDP sockets after the three channels, such as the desk. */
  local: readonly SocketSpec[];
}

/** Most operators that may be connected to a robot; only one of them commands. */
export const MAX_CARRIERS = 8;

/** The three channels of a link over connections; no kernel stamps. */
export async function openCarrierReactor(
  kind: 'websocket' | 'datachannel',
  options: CarrierOptions,
  open: (options: CarrierOptions, handlers: CarrierHandlers) => Promise<{ close(): void }>,
  stopFlag: Int32Array = new Int32Array(new SharedArrayBuffer(4)),
  clock: Clock = monotonicClock,
): Promise<Reactor> {
  const local = await openLocalSockets(options.local);
  const loop = new EventLoop(clock, stopFlag, local, options.ports.length);
  const reactor = new CarrierReactor(kind, options, loop, clock);
  try {
    reactor.end = await open(options, reactor);
    return reactor;
  } catch (error) {
    loop.close();
    throw error;
  }
}

class CarrierReactor implements Reactor, CarrierHandlers {
  readonly kind: 'websocket' | 'datachannel';
  readonly stampSource = 'userspace';
  readonly scheduling = 'normal';
  end: { close(): void } | null = null;
  readonly #options: CarrierOptions;
  readonly #loop: EventLoop;
  readonly #clock: Clock;
  readonly #carriers = new Map<Peer, Carrier>();

  constructor(kind: CarrierReactor['kind'], options: CarrierOptions, loop: EventLoop, clock: Clock) {
    this.kind = kind;
    this.#options = options;
    this.#loop = loop;
    this.#clock = clock;
  }

  opened(peer: Peer, carrier: Carrier): void {
    this.#carriers.set(peer, carrier);
  }

  message(peer: Peer, bytes: Uint8Array): void {
    const { role, host, ports } = this.#options;
    const channel = bytes[0] ?? ports.length;
    if (channel >= ports.length || bytes.length < 2) return;
    const from = role === 'robot' ? peer : peerOf(host, ports[channel]!);
    this.#loop.deliver(channel, bytes.subarray(1), from);
  }

  closed(peer: Peer): void {
    this.#carriers.delete(peer);
  }

  localPort(socket: number): number {
    return this.#options.ports[socket] ?? this.#loop.localPort(socket);
  }

  send(channel: number, bytes: Uint8Array, length: number, to: Peer): number {
    if (channel >= this.#options.ports.length || length > MAX_DATAGRAM_BYTES) return 0;
    // An operator has one connection, whichever of the robot's ports it means.
    const carrier =
      this.#options.role === 'robot' ? this.#carriers.get(to) : this.#carriers.values().next().value;
    if (carrier === undefined) return 0;
    const message = new Uint8Array(1 + length);
    message[0] = channel;
    message.set(bytes.subarray(0, length), 1);
    const sentNs = this.#clock.nowNs();
    return carrier.send(message) ? sentNs : 0;
  }

  run(handler: DatagramHandler): Promise<void> {
    return this.#loop.run(handler);
  }

  stop(): void {
    this.#loop.stop();
  }

  close(): void {
    this.end?.close();
    this.#carriers.clear();
    this.#loop.close();
  }
}
