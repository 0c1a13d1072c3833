import type { LinkRequest } from '../../src/messages/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/messages/console-access.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import { hearText } from './hear.ts';
import type { LinkHandlers, LinkStatus, PageLink } from './page-link.ts';
import { ReturningSocket } from './returning-socket.ts';

const BACKED_UP_BYTES = 4096;

/** A page's way to a console. */
export class ConsoleLink implements PageLink {
  /** About who may do what; probes are answered here already. */
  onAccess: (message: AccessMessage) => void = () => {};
  readonly #socket: ReturningSocket;
  readonly #handlers: LinkHandlers;

  constructor(url: string, handlers: LinkHandlers) {
    this.#handlers = handlers;
    this.#socket = new ReturningSocket(url, {
      onText: (text) => this.#receive(text),
      onStatus: (status) => handlers.onStatus(status),
    });
  }

  get status(): LinkStatus {
    return this.#socket.status;
  }

  /** True when handed to the socket. */
  send(request: DeskRequest | LinkRequest): boolean {
    return this.#socket.send(JSON.stringify(request));
  }

  /** About control and the way poses take. */
  say(message: AccessRequest): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** For poses: a backed-up socket drops them. */
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.waitingBytes <= BACKED_UP_BYTES) this.#socket.send(bytes);
  }

  /** For the hand stream: a backed-up socket drops the sample, since a late pose is worth nothing. */
  sendFresh(request: DeskRequest): boolean {
    return this.#socket.waitingBytes <= BACKED_UP_BYTES && this.send(request);
  }

  connect(): void {
    this.#socket.connect();
  }

  #receive(text: string): void {
    hearText(text, {
      onMessage: (message) => {
        this.#socket.wentWell();
        this.#handlers.onMessage(message);
      },
      onAccess: (message) => this.onAccess(message),
      answer: (message) => this.say(message),
    });
  }
}
