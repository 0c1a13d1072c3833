import { hostPort } from '../../core/ip-address.ts';
import { type Clock, monotonicClock } from '../../core/time/clock.ts';
import { loadZmq, type Zmq } from '../../native/zeromq.ts';
import { type DatagramHandler, type Peer, peerOf, type Reactor, type SocketSpec } from '../reactor.ts';
import type { CurveKeys } from '../secure/curve-keys.ts';
import { EventLoop, openLocalSockets } from './event-loop.ts';
import { socketError } from './socket-error.ts';

type Publisher = import('zeromq').Publisher;
type Subscriber = import('zeromq').Subscriber;

/** Answers use the port of their channel plus this: PUB and SUB are one-way. */
const ZMQ_ANSWER_PORT_STEP = 100;
const DSCP_EF = 0xb8;
const HIGH_WATER_MARK = 16;

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
  try {
    for (let i = 0; i < options.ports.length; i++) channels.push(await openChannel(zmq, options, i));
    const local = await openLocalSockets(options.local);
    return new ZmqReactor(options, channels, new EventLoop(clock, stopFlag, local, channels.length), clock);
  } catch (error) {
    for (const channel of channels) closeChannel(channel);
    throw error;
  }
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
  const common = { linger: 0, ipv6: host.includes(':'), typeOfService: DSCP_EF, ...curve };
  const conflate = role === 'operator' && index === STATE_CHANNEL;
  const out = new zmq.Publisher({ ...common, sendHighWaterMark: HIGH_WATER_MARK });
  const input = new zmq.Subscriber({ ...common, receiveHighWaterMark: HIGH_WATER_MARK, conflate });
  const channel = { out, in: input, peer: peerOf(role === 'operator' ? host : '0.0.0.1', port), port };
  const requests = `tcp://${hostPort(host, port)}`;
  const answers = `tcp://${hostPort(host, port + ZMQ_ANSWER_PORT_STEP)}`;
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
  readonly #loop: EventLoop;
  readonly #clock: Clock;

  constructor({ role }: ZmqOptions, channels: Channel[], loop: EventLoop, clock: Clock) {
    this.#channels = channels;
    this.#loop = loop;
    this.#clock = clock;
    this.#senders = channels.map(
      ({ out }, i) => new Sender(out, role === 'robot' && i === STATE_CHANNEL ? 1 : HIGH_WATER_MARK),
    );
  }

  localPort(socket: number): number {
    return this.#channels[socket]?.port ?? this.#loop.localPort(socket);
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
      void this.#receive(channel, index);
    });
    return this.#loop.run(handler);
  }

  async #receive({ in: input, peer }: Channel, index: number): Promise<void> {
    try {
      for await (const [message] of input) if (message) this.#loop.deliver(index, message, peer);
    } catch {
      // Closed by us: the run is over.
    }
  }

  stop(): void {
    this.#loop.stop();
  }

  close(): void {
    for (const channel of this.#channels.splice(0)) closeChannel(channel);
    this.#loop.close();
  }
}
