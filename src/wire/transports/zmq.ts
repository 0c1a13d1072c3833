import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { type Clock, monotonicClock } from '../../core/time/clock.ts';
import { loadZmq, type Zmq } from '../../native/zeromq.ts';
import {
  type DatagramHandler,
  MAX_DATAGRAM_BYTES,
  type Peer,
  peerOf,
  type Reactor,
  type SocketSpec,
} from '../reactor.ts';
import type { CurveKeys } from '../secure/curve-keys.ts';
import { socketError } from './socket-error.ts';

type Publisher = import('zeromq').Publisher;
type Subscriber = import('zeromq').Subscriber;

/** Answers use the port of their channel plus this: PUB and SUB are one-way. */
const ZMQ_ANSWER_PORT_STEP = 100;
const DSCP_EF = 0xb8;
const HIGH_WATER_MARK = 16;
/** The event loop's timers are coarse: it wakes early and spins the rest through `setImmediate`. */
const SPIN_MS = 1.5;
const STOP_POLL_MS = 50;

export interface ZmqOptions {
  role: 'operator' | 'robot';
  /** Robot: where it listens. Operator: the robot's address. */
  host: string;
  /** Command, state, sync. */
  ports: readonly [number, number, number];
  /** CURVE keys, or null for plain traffic on loopback. */
  keys: CurveKeys | null;
  /** Local UDP sockets after the three channels, such as the desk. */
  local: readonly SocketSpec[];
}

/** Index of the channel on which only the newest message matters. */
const STATE_CHANNEL = 1;

/**
 * The same tag + JSON messages over ZeroMQ PUB/SUB, one pair per channel and direction. Deliberately separate
 * from `udp`, sharing no code with it, so that comparing the two is meaningful. No kernel stamps.
 */
export async function openZmqReactor(
  options: ZmqOptions,
  stopFlag: Int32Array = new Int32Array(new SharedArrayBuffer(4)),
  clock: Clock = monotonicClock,
): Promise<Reactor> {
  const zmq = await loadZmq('use link.transport=udp');
  const channels: Channel[] = [];
  const local: UdpSocket[] = [];
  try {
    for (let i = 0; i < options.ports.length; i++) channels.push(await openChannel(zmq, options, i));
    for (const spec of options.local) local.push(await openLocal(spec));
  } catch (error) {
    for (const channel of channels) closeChannel(channel);
    for (const socket of local) socket.close();
    throw error;
  }
  return new ZmqReactor(options, channels, local, stopFlag, clock);
}

interface Channel {
  out: Publisher;
  in: Subscriber;
  peer: Peer;
  port: number;
}

async function openChannel(zmq: Zmq, options: ZmqOptions, index: number): Promise<Channel> {
  const { role, host, ports, keys } = options;
  const port = ports[index]!;
  const curve = keys === null ? {} : role === 'robot' ? keys.server : keys.client;
  const common = { linger: 0, typeOfService: DSCP_EF, ...curve };
  const conflate = role === 'operator' && index === STATE_CHANNEL;
  const out = new zmq.Publisher({ ...common, sendHighWaterMark: HIGH_WATER_MARK });
  const input = new zmq.Subscriber({ ...common, receiveHighWaterMark: HIGH_WATER_MARK, conflate });
  const channel = { out, in: input, peer: peerOf(role === 'operator' ? host : '0.0.0.1', port), port };
  const requests = `tcp://${host}:${port}`;
  const answers = `tcp://${host}:${port + ZMQ_ANSWER_PORT_STEP}`;
  try {
    if (role === 'robot') {
      await input.bind(requests);
      await out.bind(answers);
    } else {
      out.connect(requests);
      input.connect(answers);
    }
    input.subscribe();
  } catch (error) {
    closeChannel(channel);
    const name = ['command', 'state', 'sync'][index]!;
    throw socketError(
      { name: `${name} ZeroMQ`, host, port, portKey: `link.${name}Port` },
      (error as NodeJS.ErrnoException).code ?? String(error),
    );
  }
  return channel;
}

function closeChannel(channel: Channel): void {
  channel.out.close();
  channel.in.close();
}

function openLocal(spec: SocketSpec): Promise<UdpSocket> {
  const socket = createSocket('udp4');
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

/**
 * `send` throws while an earlier one is pending: one writer, a short queue, oldest dropped (state: newest
 * only).
 */
class Sender {
  readonly #socket: Publisher;
  readonly #limit: number;
  readonly #line: Uint8Array[] = [];
  #busy = false;

  constructor(socket: Publisher, limit: number) {
    this.#socket = socket;
    this.#limit = limit;
  }

  push(bytes: Uint8Array): void {
    this.#line.push(bytes);
    if (this.#line.length > this.#limit) this.#line.shift();
    if (!this.#busy) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    try {
      for (let next = this.#line.shift(); next !== undefined; next = this.#line.shift())
        await this.#socket.send(next);
    } catch {
      this.#line.length = 0;
    }
    this.#busy = false;
  }
}

class ZmqReactor implements Reactor {
  readonly kind = 'zmq';
  readonly stampSource = 'userspace';
  readonly scheduling = 'normal';
  readonly #channels: Channel[];
  readonly #senders: Sender[];
  readonly #local: UdpSocket[];
  readonly #stop: Int32Array;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #spinning = false;
  #stopped: () => void = () => {};

  constructor(options: ZmqOptions, channels: Channel[], local: UdpSocket[], stop: Int32Array, clock: Clock) {
    this.#channels = channels;
    this.#local = local;
    this.#stop = stop;
    this.#clock = clock;
    const robot = options.role === 'robot';
    this.#senders = channels.map(
      ({ out }, i) => new Sender(out, robot && i === STATE_CHANNEL ? 1 : HIGH_WATER_MARK),
    );
  }

  localPort(socket: number): number {
    return this.#channels[socket]?.port ?? this.#local[socket - this.#channels.length]?.address().port ?? 0;
  }

  send(socket: number, bytes: Uint8Array, length: number, _to: Peer): number {
    const sender = this.#senders[socket];
    if (sender === undefined) return 0;
    const sentNs = this.#clock.nowNs();
    sender.push(bytes.slice(0, length));
    return sentNs;
  }

  run(handler: DatagramHandler): Promise<void> {
    this.#channels.forEach((channel, index) => {
      void this.#receive(handler, channel, index);
    });
    this.#local.forEach((socket, i) => {
      socket.on('message', (bytes, from) => {
        this.#deliver(handler, this.#channels.length + i, bytes, peerOf(from.address, from.port));
      });
    });
    return new Promise((resolve) => {
      this.#stopped = resolve;
      this.#arm(handler);
    });
  }

  async #receive(handler: DatagramHandler, channel: Channel, index: number): Promise<void> {
    try {
      for await (const [message] of channel.in)
        if (message) this.#deliver(handler, index, message, channel.peer);
    } catch {
      // Closed by us: the run is over.
    }
  }

  #deliver(handler: DatagramHandler, socket: number, bytes: Uint8Array, from: Peer): void {
    if (bytes.length > MAX_DATAGRAM_BYTES) return handler.onOversize(socket);
    handler.onDatagram(socket, bytes, bytes.length, from, this.#clock.nowNs(), Number.NaN);
    this.#arm(handler);
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

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  close(): void {
    for (const channel of this.#channels.splice(0)) closeChannel(channel);
    for (const socket of this.#local.splice(0)) socket.close();
  }
}
