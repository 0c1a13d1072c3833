import type { Caller } from './access.ts';

interface DeviceSocket {
  close(code: number, reason: string): void;
  on(event: 'close', listener: () => void): unknown;
}

/** All open sockets, including receive-only ones. A device that is forgotten loses its sockets. */
export class DeviceSockets {
  readonly #access: { stillKnown(caller: Caller): boolean };
  readonly #sockets = new Map<DeviceSocket, Caller>();

  constructor(access: { stillKnown(caller: Caller): boolean }) {
    this.#access = access;
  }

  add(socket: DeviceSocket, caller: Caller): void {
    this.#sockets.set(socket, caller);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** Called periodically: closes the sockets of forgotten devices. */
  closeForgotten(): void {
    for (const [socket, caller] of this.#sockets)
      if (!this.#access.stillKnown(caller)) socket.close(4001, 'forgotten');
  }
}
