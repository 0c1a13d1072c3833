import type { WebSocket } from 'ws';
import type { Access, Caller } from './access.ts';

/** Everything that is open, also what only listens. Who is forgotten loses it. */
export class Guests {
  readonly #access: Access;
  readonly #guests = new Map<WebSocket, Caller>();

  constructor(access: Access) {
    this.#access = access;
  }

  add(socket: WebSocket, caller: Caller): void {
    this.#guests.set(socket, caller);
    socket.on('close', () => this.#guests.delete(socket));
  }

  /** Now and then: closes what belongs to a device that has been forgotten since. */
  look(): void {
    for (const [socket, caller] of this.#guests)
      if (!this.#access.stillKnown(caller)) socket.close(4001, 'forgotten');
  }
}
