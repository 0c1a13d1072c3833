import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { MAX_DATAGRAM_BYTES } from '../wire/reactor.ts';

const HOST = '127.0.0.1';
/** Numbered by the first byte of a tunnelled datagram. */
const LINK_PORTS = 3;

/**
 * Loopback sockets for the three ports of a link (command, state, sync), between a role on this machine and a
 * tunnel. A tunnelled datagram is one byte for the port, then the datagram's bytes.
 */
export class LinkSockets {
  readonly #sockets: Socket[];
  /** Where each one sends: the robot's ports, or the local port that sent first. */
  readonly #targets: number[];
  readonly #scratch = new Uint8Array(1 + MAX_DATAGRAM_BYTES);
  #onOut: (tunnelled: Uint8Array) => void = () => {};

  private constructor(sockets: Socket[], targets: readonly number[]) {
    this.#sockets = sockets;
    this.#targets = sockets.map((_, i) => targets[i] ?? 0);
    sockets.forEach((socket, i) => {
      socket.on('message', (data, from) => this.#received(i, data, from.port));
      socket.on('error', () => {});
    });
  }

  /** `targets`: ports to send to; by default, answers go to the port that sent first. */
  static async open(targets: readonly number[] = []): Promise<LinkSockets> {
    const sockets = Array.from({ length: LINK_PORTS }, () => createSocket('udp4'));
    for (const socket of sockets) {
      socket.bind(0, HOST);
      await once(socket, 'listening');
    }
    return new LinkSockets(sockets, targets);
  }

  get ports(): number[] {
    return this.#sockets.map((socket) => socket.address().port);
  }

  /** The bytes are valid only during the call. */
  onOut(take: (tunnelled: Uint8Array) => void): void {
    this.#onOut = take;
  }

  /** From the tunnel. False: not a datagram of a link, or closed. */
  in(tunnelled: Uint8Array): boolean {
    const port = tunnelled[0] ?? LINK_PORTS;
    const socket = this.#sockets[port];
    const target = this.#targets[port];
    if (socket === undefined || target === undefined) return false;
    if (tunnelled.length < 2 || tunnelled.length > 1 + MAX_DATAGRAM_BYTES) return false;
    if (target !== 0) socket.send(tunnelled.subarray(1), target, HOST, () => {});
    return true;
  }

  close(): void {
    this.#onOut = () => {};
    for (const socket of this.#sockets.splice(0)) socket.close();
  }

  #received(port: number, data: Uint8Array, from: number): void {
    if (this.#targets[port] === 0) this.#targets[port] = from;
    if (this.#targets[port] !== from || data.length > MAX_DATAGRAM_BYTES) return;
    this.#scratch[0] = port;
    this.#scratch.set(data, 1);
    this.#onOut(this.#scratch.subarray(0, 1 + data.length));
  }
}
