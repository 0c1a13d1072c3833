import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import type { Pull, Subscriber } from 'zeromq';
import type { Counters } from '../core/counters.ts';
import { hostPort } from '../core/ip-address.ts';
import type { InputRelay } from '../input/device.ts';
import { loadZmq, type Zmq } from '../native/zeromq.ts';
import { MAX_DATAGRAM_BYTES } from '../wire/reactor.ts';
import { resolveHost } from '../wire/transports/resolve-host.ts';
import { socketError } from '../wire/transports/socket-error.ts';

/** A relay with the port of the input's socket, if it has one. */
export interface OpenRelay extends InputRelay {
  toPort: number | null;
}

const HANDSHAKE_MS = 2000;
/** A sender of larger messages is disconnected. */
const MAX_MESSAGE_BYTES = 65_536;
/** A headset that vanished is detected after about five seconds. */
const KEEPALIVE = { tcpKeepalive: 1, tcpKeepaliveIdle: 2, tcpKeepaliveInterval: 1, tcpKeepaliveCount: 3 };

/**
 * ZeroMQ sockets of the inputs, on the main thread: each message is forwarded as one loopback datagram to the
 * control thread, which stamps it. No deadline; the newest message of a sender wins.
 */
export class InputRelays {
  readonly #relays: Relay[];

  private constructor(relays: Relay[]) {
    this.#relays = relays;
  }

  static async open(relays: readonly OpenRelay[], counters: Counters): Promise<InputRelays> {
    if (relays.length === 0) return new InputRelays([]);
    const zmq = await loadZmq('use an input that does not need it');
    const opened: Relay[] = [];
    try {
      for (const relay of relays) opened.push(await Relay.open(zmq, relay, counters));
    } catch (error) {
      for (const relay of opened) relay.close();
      throw error;
    }
    return new InputRelays(opened);
  }

  close(): void {
    for (const relay of this.#relays) relay.close();
  }
}

class Relay {
  readonly #spec: OpenRelay;
  readonly #socket: Pull | Subscriber;
  readonly #counters: Counters;
  #udp: UdpSocket = openSender();
  /** TCP connections, and those that completed the ZeroMQ handshake. */
  #connected = 0;
  #peers = 0;

  private constructor(spec: OpenRelay, socket: Pull | Subscriber, counters: Counters) {
    this.#spec = spec;
    this.#socket = socket;
    this.#counters = counters;
    if (spec.bind) this.#watch();
    void this.#receive();
  }

  static async open(zmq: Zmq, spec: OpenRelay, counters: Counters): Promise<Relay> {
    const host = await resolveHost(spec.host, `the host of ${spec.name}`, 'listenHost');
    const common = {
      linger: 0,
      ipv6: host.includes(':'),
      maxMessageSize: MAX_MESSAGE_BYTES,
      handshakeInterval: HANDSHAKE_MS,
      ...KEEPALIVE,
    };
    // A publisher may send its topic as a separate frame, which CONFLATE does not support.
    const socket =
      spec.pattern === 'pull'
        ? new zmq.Pull({ ...common, conflate: true })
        : new zmq.Subscriber({ ...common, receiveHighWaterMark: 2 });
    const address = `tcp://${hostPort(host, spec.port)}`;
    try {
      if (socket instanceof zmq.Subscriber) socket.subscribe();
      const relay = new Relay(spec, socket, counters);
      if (spec.bind) await socket.bind(address);
      else socket.connect(address);
      return relay;
    } catch (error) {
      socket.close();
      throw socketError({ ...spec, tcp: true }, (error as NodeJS.ErrnoException).code ?? String(error));
    }
  }

  /** ZeroMQ does not identify the sender: with two senders at once, messages of both are ignored. */
  #watch(): void {
    const { events } = this.#socket;
    events.on('accept', () => {
      this.#connected++;
    });
    events.on('handshake', () => {
      this.#peers++;
      // A new sender gets a new address, so that the input recognises it as a different one.
      this.#udp.close();
      this.#udp = openSender();
    });
    events.on('disconnect', () => {
      this.#connected--;
      this.#peers = Math.min(this.#peers, this.#connected);
    });
  }

  async #receive(): Promise<void> {
    try {
      for await (const frames of this.#socket) this.#take(frames);
    } catch {
      // The socket was closed: the run is over.
    }
  }

  #take(frames: readonly Uint8Array[]): void {
    const { toPort, pattern, shorten } = this.#spec;
    const message = frames[frames.length - 1]!;
    if (toPort === null) return;
    if (this.#peers > 1) return this.#counters.add('unknown-source');
    const expected = pattern === 'pull' ? 1 : 2;
    if (frames.length > expected) return this.#counters.add('malformed');
    const bytes = message.length <= MAX_DATAGRAM_BYTES ? message : shorten?.(message);
    if (!bytes || bytes.length > MAX_DATAGRAM_BYTES) return this.#counters.add('oversize');
    this.#udp.send(bytes, toPort, '127.0.0.1', (error) => {
      if (error) this.#counters.add('send-failed');
    });
  }

  close(): void {
    this.#socket.close();
    this.#udp.close();
  }
}

function openSender(): UdpSocket {
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  return socket;
}
