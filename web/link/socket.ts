import type { LinkRequest, ReplayRequest } from '../../src/messages/console.ts';
import type { AccessMessage, AccessRequest } from '../../src/messages/console-access.ts';
import type { DeskRequest } from '../../src/messages/telemetry.ts';
import type { LinkHandlers, LinkStatus, PageLink } from './page-link.ts';
import { receiveText } from './receive-text.ts';
import { ReconnectingSocket } from './reconnecting-socket.ts';

const BACKED_UP_BYTES = 4096;

/** A page's link to its console. */
export class ConsoleLink implements PageLink {
  /** Receives access messages. The link itself answers probes. */
  onAccess: (message: AccessMessage) => void = () => {};
  readonly #socket: ReconnectingSocket;
  readonly #handlers: LinkHandlers;

  constructor(url: string, handlers: LinkHandlers) {
    this.#handlers = handlers;
    this.#socket = new ReconnectingSocket(url, {
      onText: (text) => this.#receive(text),
      onStatus: (status) => handlers.onStatus(status),
    });
  }

  get status(): LinkStatus {
    return this.#socket.status;
  }

  /** True when written to the socket. */
  send(request: DeskRequest | LinkRequest | ReplayRequest): boolean {
    return this.#socket.send(JSON.stringify(request));
  }

  /** Sends messages about control and the pose channel. */
  sendAccess(message: AccessRequest): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** For headset poses: drops them when the socket is backed up. */
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.waitingBytes <= BACKED_UP_BYTES) this.#socket.send(bytes);
  }

  /** For hand samples: drops the sample when the socket is backed up, because a late sample is useless. */
  sendUnreliable(request: DeskRequest): boolean {
    return this.#socket.waitingBytes <= BACKED_UP_BYTES && this.send(request);
  }

  connect(): void {
    this.#socket.connect();
  }

  #receive(text: string): void {
    receiveText(text, {
      onMessage: (message) => {
        this.#socket.resetBackoff();
        this.#handlers.onMessage(message);
      },
      onAccess: (message) => this.onAccess(message),
      answer: (message) => this.sendAccess(message),
    });
  }
}
