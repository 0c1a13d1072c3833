import type { Clock } from '../../core/time/clock.ts';
import { type DatagramHandler, MAX_DATAGRAM_BYTES, type Outbox, type Peer, peerOf } from '../reactor.ts';

interface InFlight {
  atNs: number;
  to: Peer;
  from: Peer;
  /** Reused: only the first `length` are valid. */
  bytes: Uint8Array;
  length: number;
}

/** What happens to a datagram in transit: a delay in nanoseconds, or null when it is lost. */
export type Impairment = (from: Peer, to: Peer, nowNs: number) => number | null;

/**
 * Both roles in one thread, joined by memory: the local path of a measurement, and with a manual clock a simulated
 * network that repeats exactly. Delivery is by time, then by sending order.
 */
export class LocalNetwork {
  readonly #clock: Clock;
  readonly #wait: (deadlineNs: number) => void;
  readonly #impair: Impairment;
  readonly #handlers: DatagramHandler[] = [];
  readonly #sockets = new Map<Peer, { handler: () => DatagramHandler; socket: number }>();
  readonly #inFlight: InFlight[] = [];
  readonly #spare: InFlight[] = [];
  #running = true;

  /** `wait` returns at the deadline: by sleeping, or by moving a manual clock there. */
  constructor(clock: Clock, wait: (deadlineNs: number) => void, impair: Impairment = () => 0) {
    this.#clock = clock;
    this.#wait = wait;
    this.#impair = impair;
  }

  /** Reserves sockets at `address` on these ports; pass the handler to `attach` once it exists. */
  endpoint(
    address: string,
    ports: readonly number[],
  ): { outbox: Outbox; attach: (handler: DatagramHandler) => void } {
    let own: DatagramHandler | null = null;
    const peers = ports.map((port) => peerOf(address, port));
    peers.forEach((peer, socket) => {
      this.#sockets.set(peer, { handler: () => own!, socket });
    });
    return {
      outbox: { send: (socket, bytes, length, to) => this.#send(peers[socket]!, to, bytes, length) },
      attach: (handler) => {
        own = handler;
        this.#handlers.push(handler);
      },
    };
  }

  /** Puts a datagram on the network as if `from` had sent it. */
  inject(from: Peer, to: Peer, bytes: Uint8Array): void {
    this.#send(from, to, bytes, bytes.length);
  }

  #send(from: Peer, to: Peer, bytes: Uint8Array, length: number): number {
    const nowNs = this.#clock.nowNs();
    const delayNs = this.#impair(from, to, nowNs);
    if (delayNs === null) return nowNs;
    const datagram = this.#spare.pop() ?? { atNs: 0, to, from, bytes: new Uint8Array(0), length };
    if (datagram.bytes.length < length) datagram.bytes = new Uint8Array(Math.max(length, MAX_DATAGRAM_BYTES));
    for (let i = 0; i < length; i++) datagram.bytes[i] = bytes[i]!;
    datagram.length = length;
    datagram.atNs = nowNs + delayNs;
    datagram.to = to;
    datagram.from = from;
    this.#insert(datagram);
    return nowNs;
  }

  #insert(datagram: InFlight): void {
    const queue = this.#inFlight;
    let at = queue.length;
    queue.push(datagram);
    for (; at > 0 && queue[at - 1]!.atNs > datagram.atNs; at--) queue[at] = queue[at - 1]!;
    queue[at] = datagram;
  }

  stop(): void {
    this.#running = false;
  }

  /** Runs all handlers until `untilNs` or `stop`. */
  run(untilNs: number): void {
    this.#running = true;
    while (this.#running) {
      const nextNs = Math.min(untilNs, this.#nextNs());
      if (this.#clock.nowNs() < nextNs) this.#wait(nextNs);
      const nowNs = this.#clock.nowNs();
      this.#deliver(nowNs);
      for (const handler of this.#handlers) if (nowNs >= handler.nextDeadlineNs()) handler.onDeadline(nowNs);
      if (nowNs >= untilNs) return;
    }
  }

  #nextNs(): number {
    let nextNs = this.#inFlight[0]?.atNs ?? Number.POSITIVE_INFINITY;
    for (const handler of this.#handlers) nextNs = Math.min(nextNs, handler.nextDeadlineNs());
    return nextNs;
  }

  #deliver(nowNs: number): void {
    while (this.#inFlight.length > 0 && this.#inFlight[0]!.atNs <= nowNs) {
      const datagram = this.#inFlight.shift()!;
      const { to, from, bytes, length } = datagram;
      const target = this.#sockets.get(to);
      target?.handler().onDatagram(target.socket, bytes, length, from, this.#clock.nowNs(), Number.NaN);
      this.#spare.push(datagram);
    }
  }
}
