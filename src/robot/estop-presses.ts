import type { Peer } from '../wire/reactor.ts';

/** Senders remembered; the press of a forgotten one stops the robot once more. */
const MAX_SENDERS = 64;

interface Press {
  session: number;
  request: number;
}

/**
 * The newest e-stop press of every sender. An operator repeats a press until it is confirmed; a repeat that arrives
 * after a reset must not stop the robot again. In doubt a press counts as new: another address, another session, a
 * higher number, or no number at all.
 */
export class EstopPresses {
  readonly #newest = new Map<Peer, Press>();

  /** Whether this press has not been taken before; takes it. */
  isNew(session: number, request: number, from: Peer): boolean {
    const known = this.#newest.get(from);
    if (known !== undefined && known.session === session && request > 0 && request <= known.request)
      return false;
    this.#newest.delete(from);
    if (this.#newest.size >= MAX_SENDERS) this.#newest.delete(this.#newest.keys().next().value!);
    this.#newest.set(from, { session, request });
    return true;
  }
}
