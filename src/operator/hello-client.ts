import type { Counters } from '../core/counters.ts';
import type { PlayoutRequest } from '../messages/playout-request.ts';
import { encodeBye, encodeHello } from '../wire/codecs/desk.ts';
import type { Outbox, Peer } from '../wire/reactor.ts';

/** Claims and renews control of the robot, with what the operator requests; gives it up at the end. */
export class HelloClient {
  readonly request: PlayoutRequest;
  readonly #outbox: Outbox;
  readonly #socket: number;
  readonly #robot: Peer;
  readonly #session: number;
  readonly #outageHoldS: number;
  readonly #counters: Counters;
  readonly #bytes = new Uint8Array(256);
  /** 0: the request changed. */
  #length = 0;

  constructor(
    outbox: Outbox,
    socket: number,
    robot: Peer,
    session: number,
    request: PlayoutRequest,
    outageHoldS: number,
    counters: Counters,
  ) {
    this.#outbox = outbox;
    this.#socket = socket;
    this.#robot = robot;
    this.#session = session;
    this.request = request;
    this.#outageHoldS = outageHoldS;
    this.#counters = counters;
  }

  /** Hot path: the same hello is not encoded again. */
  send(): void {
    if (this.#length === 0)
      this.#length = encodeHello(this.#session, this.#bytes, this.request, this.#outageHoldS);
    if (!this.#outbox.send(this.#socket, this.#bytes, this.#length, this.#robot))
      this.#counters.add('send-failed');
  }

  /** Requests something else, now. */
  change(request: Partial<PlayoutRequest>): void {
    Object.assign(this.request, request);
    this.#length = 0;
    this.send();
  }

  bye(): void {
    this.#length = 0;
    const length = encodeBye(this.#session, this.#bytes);
    this.#outbox.send(this.#socket, this.#bytes, length, this.#robot);
  }
}
