import type { Caller } from './access.ts';

interface Guest {
  close(code: number, reason: string): void;
  on(event: 'close', listener: () => void): unknown;
}

/** Everything that is open, also what only listens. Who is forgotten loses it. */
export class Guests {
  readonly #access: { stillKnown(caller: Caller): boolean };
  readonly #guests = new Map<Guest, Caller>();

  constructor(access: { stillKnown(caller: Caller): boolean }) {
    this.#access = access;
  }

  add(socket: Guest, caller: Caller): void {
    this.#guests.set(socket, caller);
    socket.on('close', () => this.#guests.delete(socket));
  }

  /** Now and then: closes what belongs to a device that has been forgotten since. */
  look(): void {
    for (const [socket, caller] of this.#guests)
      if (!this.#access.stillKnown(caller)) socket.close(4001, 'forgotten');
  }
}
